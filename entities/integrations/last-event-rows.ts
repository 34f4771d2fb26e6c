import type { Work } from '../kit/storage/work.ts';

/**
 * Notes the last event that arrived at a webhook, which the caller has locked. It is an observation of the server and no change of the
 * record: it has no version, no history and no event, so a busy sender does not come between managers who edit the record.
 * @param error why the event was refused; null when it was accepted
 */
export async function noteLastEvent(
  work: Work,
  webhookId: string,
  externalId: string,
  error: string | null,
): Promise<void> {
  await work.runAsSystem(
    `update integration_webhooks set last_event_id = $2, last_event_at = $3, last_event_error = $4,
      last_event_status = case when $4::text is null then 'accepted' else 'refused' end where id = $1`,
    [webhookId, externalId, work.clock.now(), error],
  );
}

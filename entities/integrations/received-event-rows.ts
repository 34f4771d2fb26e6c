import type { Work } from '../kit/storage/work.ts';

const maxRemoved = 1_000;

/**
 * Removes some events that deleted integration webhooks have received, for good: their bodies belong to an organization.
 * @param organizationId only those of this one
 * @returns whether there may be more
 */
export async function removeReceivedEvents(work: Work, organizationId?: string): Promise<boolean> {
  const rows = await work.rowsAsSystem<{ readonly count: number }>(
    `select prune_records('webhook_event', 'webhook_events', array(
      select r.id from integration_webhooks w join webhook_events r on r.provider = 'integration-' || lower(w.id)
      where w.deleted_at is not null and ($1::text is null or w.organization_id = $1) and r.deleted_at is null limit ${maxRemoved} for update of r skip locked)) as count`,
    [organizationId ?? null],
  );
  return rows[0]?.count === maxRemoved;
}

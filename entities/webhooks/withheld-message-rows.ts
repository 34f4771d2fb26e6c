import { workflowMessageTopic } from './workflow-message-topic.ts';
import type { Work } from '../kit/storage/work.ts';

/** Whether the endpoint `w` may receive the message `held` now, by its topics, its scopes, and the time since which it has its URL. */
export const isReceivable = `(held.topic in ('webhook_endpoint.tested', '${workflowMessageTopic}') or endpoint_wants(w.topics, w.scopes, held.topic, held.entity_kind))
  and held.occurred_at >= coalesce(w.url_changed_at, '-infinity')`;

/**
 * Ends what is due to an endpoint and may not be sent to it any more, apart from attempts that are under way: its topics or scopes have
 * become fewer, or its URL is another one since.
 * @param claimIds of attempts that have been claimed and will not begin
 */
export async function withholdMessages(
  work: Work,
  endpointId: string,
  claimIds: readonly string[] = [],
): Promise<void> {
  await work.runAsSystem(
    `update webhook_messages held set state = 'withheld', due_at = null, claim_id = null, updated_at = $2
     from webhook_endpoints w where w.id = $1 and held.endpoint_id = $1 and held.state = 'due'
       and (held.claim_id is null or held.claim_id = any($3) or held.due_at <= $2) and not (${isReceivable})`,
    [endpointId, work.clock.now(), claimIds],
  );
}

import type { EntityModule } from '#entities/kit/model/define.ts';
import { shownPayload } from '#entities/kit/model/shown-payload.ts';
import type { ClaimedMessage } from '#entities/webhooks/webhook-queue-rows.ts';

/** The record of a message as the endpoint reads it: null if it cannot; undefined if it does not ask for it. */
export type MessageRecord = Readonly<Record<string, unknown>> | null | undefined;

/** The JSON text of a message, as its schema says (`eventCatalogue`). @param module the kind of the record */
export function messageBody(
  { topic, entityKind, entityId, recordVersion, requestId, actor, occurredAt, payload }: ClaimedMessage,
  organizationId: string,
  module: EntityModule | undefined,
  record: MessageRecord,
): string {
  return JSON.stringify({
    type: topic,
    timestamp: occurredAt.toISOString(),
    data: {
      kind: entityKind,
      id: entityId,
      organization_id: organizationId,
      version: recordVersion,
      request_id: requestId,
      actor,
      ...shownPayload(payload, module),
      ...(record === undefined ? {} : { record }),
    },
  });
}

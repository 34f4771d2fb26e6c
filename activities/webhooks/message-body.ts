import { snakeCase } from '#entities/kit/base/snake-case.ts';
import type { EntityModule } from '#entities/kit/model/define.ts';
import { answeredFields } from '#entities/kit/model/exposure.ts';
import type { ClaimedMessage } from '#entities/kit/outbox/webhook-queue.ts';

/** The record of a message as the endpoint reads it: null if it cannot; undefined if it does not ask for it. */
export type MessageRecord = Readonly<Record<string, unknown>> | null | undefined;

/** The JSON text of a message, as its schema says (`eventCatalogue`). @param module the kind of the record */
export function messageBody(
  { topic, entityKind, entityId, recordVersion, requestId, occurredAt, payload }: ClaimedMessage,
  organizationId: string,
  module: EntityModule | undefined,
  record: MessageRecord,
): string {
  const { changed, ...details } = payload;
  const names = Object.keys(details);
  return JSON.stringify({
    type: topic,
    timestamp: occurredAt.toISOString(),
    data: {
      kind: entityKind,
      id: entityId,
      organization_id: organizationId,
      version: recordVersion,
      request_id: requestId,
      ...(Array.isArray(changed) ? { changed: shownNames(changed, module) } : {}),
      ...(names.length > 0
        ? { details: Object.fromEntries(names.map((name) => [snakeCase(name), details[name]])) }
        : {}),
      ...(record === undefined ? {} : { record }),
    },
  });
}

/** Names of fields that the APIs show. */
function shownNames(names: readonly unknown[], module: EntityModule | undefined): string[] {
  const shown = new Set(module ? answeredFields(module) : []);
  return names.flatMap((name) => (typeof name === 'string' && shown.has(name) ? [snakeCase(name)] : []));
}

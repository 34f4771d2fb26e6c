import type { CustomVerbOf, EventSource, PayloadOf } from '../model/events.ts';
import type { EventDraft } from './event-draft.ts';

/** The record to which an event belongs. */
interface EventSubject {
  readonly id: string;
  readonly recordVersion: number;
  readonly organizationId?: string | null;
}

/**
 * A custom event, which a handler records besides the events of changes.
 * @throws TypeError when the kind does not declare it
 */
export function customEvent<S extends EventSource, V extends CustomVerbOf<S>>(
  kind: S,
  verb: V,
  record: EventSubject,
  payload: PayloadOf<S, V>,
): EventDraft {
  if (!Object.hasOwn(kind.customEvents ?? {}, verb)) throw new TypeError(`"${kind.topic}" declares no event "${verb}"`);
  return draftOf(kind, verb, record, payload);
}

/** An event of a record with the topic `<kind>.<verb>`. */
export function draftOf(
  kind: EventSource,
  verb: string,
  record: EventSubject,
  payload: NonNullable<EventDraft['payload']>,
): EventDraft {
  return {
    topic: `${kind.topic}.${verb}`,
    entityKind: kind.topic,
    entityId: record.id,
    recordVersion: record.recordVersion,
    organizationId: record.organizationId ?? null,
    payload,
  };
}

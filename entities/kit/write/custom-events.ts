import type { EntityModule } from '../model/define.ts';
import type { EventDraft } from './event-draft.ts';

/** The record an event is about. */
interface EventSubject {
  readonly id: string;
  readonly recordVersion: number;
  readonly organizationId?: string | null;
}

/**
 * The event for something that is not a plain change of a record.
 * @throws TypeError when the kind does not declare it
 */
export function announcement(
  module: EntityModule,
  verb: string,
  record: EventSubject,
  payload: NonNullable<EventDraft['payload']> = {},
): EventDraft {
  if (!Object.hasOwn(module.customEvents ?? {}, verb))
    throw new TypeError(`"${module.kind}" does not announce "${verb}"`);
  return draftOf(module, verb, record, payload);
}

/** `<kind>.<verb>` about a record. */
export function draftOf(
  module: EntityModule,
  verb: string,
  record: EventSubject,
  payload: NonNullable<EventDraft['payload']>,
): EventDraft {
  return {
    topic: `${module.topic}.${verb}`,
    entityKind: module.topic,
    entityId: record.id,
    recordVersion: record.recordVersion,
    organizationId: record.organizationId ?? null,
    payload,
  };
}

import type { EntityModule } from './define.ts';
import type { EventDraft } from './records.ts';

/** The record an announcement is about. */
interface AnnouncedRecord {
  readonly id: string;
  readonly recordVersion: number;
  readonly organizationId?: string;
}

/**
 * The event for something that is not a plain change of a record.
 * @throws TypeError when the kind does not declare it
 */
export function announcement(
  module: EntityModule,
  verb: string,
  record: AnnouncedRecord,
  payload: NonNullable<EventDraft['payload']> = {},
): EventDraft {
  if (!Object.hasOwn(module.announces ?? {}, verb)) throw new TypeError(`"${module.kind}" does not announce "${verb}"`);
  return {
    topic: `${module.topic}.${verb}`,
    entityKind: module.topic,
    entityId: record.id,
    recordVersion: record.recordVersion,
    organizationId: record.organizationId ?? null,
    payload,
  };
}

import { newId } from '../base/ids.ts';
import type { RecordedChange } from '../model/changes.ts';
import type { RecordedBy } from './recorded-by.ts';
import { draftOf } from './custom-events.ts';
import type { EventDraft } from './event-draft.ts';
import { namesWithoutSecrets } from './history-entries.ts';

export interface EventRow {
  /** Whether a listener wants the event; the relay claims only these. */
  readonly pending: boolean;
}

/** One row of the table `events` for each announced change and each custom event. Cascaded changes are not announced. */
export function eventRows(
  changes: readonly RecordedChange[],
  drafts: readonly EventDraft[],
  by: RecordedBy,
  { hasListener, traceparent }: { hasListener: (topic: string) => boolean; traceparent: string | undefined },
): EventRow[] {
  const announced = [
    ...changes
      .filter((change) => !change.isCascaded && change.module.events.includes(change.operation))
      .map((change) => draftOf(change.module, change.operation, change, { changed: namesWithoutSecrets(change) })),
    ...drafts,
  ];
  return announced.map((event) => ({
    ...by,
    id: newId(),
    topic: event.topic,
    entity_kind: event.entityKind,
    entity_id: event.entityId,
    record_version: event.recordVersion,
    organization_id: event.organizationId,
    traceparent: traceparent ?? null,
    payload: event.payload ?? {},
    pending: hasListener(event.topic),
  }));
}

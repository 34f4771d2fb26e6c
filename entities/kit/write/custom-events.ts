import { concernedBy, type CustomVerbOf, type EventSource, type PayloadOf } from '../model/events.ts';
import { mentionedIn } from '../model/mentions.ts';
import type { RecordedChange } from '../model/recorded-changes.ts';
import type { EventDraft } from '../model/event-draft.ts';

interface EventSubject {
  readonly id: string;
  readonly recordVersion: number;
  readonly organizationId?: string | null;
}

/**
 * A custom event, which a handler records besides the events of changes.
 * @param before the record before the change that the event reports: organizations that it has left are concerned as well
 * @throws TypeError when the kind does not declare it
 */
export function customEvent<S extends EventSource, V extends CustomVerbOf<S>>(
  kind: S,
  verb: V,
  record: EventSubject,
  payload: PayloadOf<S, V>,
  before: EventSubject | null = null,
): EventDraft {
  if (!Object.hasOwn(kind.customEvents ?? {}, verb)) throw new TypeError(`"${kind.topic}" declares no event "${verb}"`);
  return { ...draftOf(kind, verb, record, payload), ...concernedBy(kind, { ...record }, before && { ...before }) };
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

/**
 * The events of a change that follow from its fields: people who are newly mentioned (`mentions`), a new person in charge (`announces`),
 * and the record that a deleted one belonged to (`announcesLeaving`).
 */
export function draftsOfFields(change: RecordedChange): EventDraft[] {
  const { module, operation, before, after, isCascaded } = change;
  const fields = Object.entries(module.fields);
  if (operation === 'deleted')
    return fields.flatMap(([name, { announcesLeaving }]) => {
      const id = after[name];
      if (isCascaded || announcesLeaving === undefined || typeof id !== 'string') return [];
      return [draftOf(module, announcesLeaving, change, { id })];
    });
  const texts = fields.filter(([, { hasMentions }]) => hasMentions).map(([name]) => name);
  const known = mentionedInAll(texts, before);
  const userIds = [...mentionedInAll(texts, after)].filter((id) => !known.has(id));
  return [
    ...(userIds.length > 0 ? [draftOf(module, 'mentioned', change, { userIds })] : []),
    ...fields.flatMap(([name, { announces }]) => {
      const userId = after[name];
      const isNew = announces !== undefined && typeof userId === 'string' && before?.[name] !== userId;
      return isNew ? [draftOf(module, announces, change, { userId })] : [];
    }),
  ];
}

function mentionedInAll(texts: readonly string[], row: Readonly<Record<string, unknown>> | null): ReadonlySet<string> {
  return new Set(texts.flatMap((name) => [...mentionedIn(row?.[name])]));
}

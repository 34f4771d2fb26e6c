import { mentionedIn } from '../model/mentions.ts';
import type { RecordedChange } from '../model/recorded-changes.ts';
import { draftOf } from './custom-events.ts';
import type { EventDraft } from './event-draft.ts';

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

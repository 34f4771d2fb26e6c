import { sql } from 'kysely';
import { databaseRoleOf } from '../model/caller.ts';
import type { EntityModule } from '../model/define.ts';
import type { EventDraft } from '../model/event-draft.ts';
import { compileSql } from '../storage/sql.ts';
import { prepareRecords } from '../write/change-log.ts';
import type { ChangeWork } from '../write/change-work.ts';
import { newRows, type Creation, type Creator } from '../write/creations.ts';
import { creationOf, insertion } from '../write/insert-rows.ts';

type Row = Readonly<Record<string, unknown>>;

/**
 * Creates a record with an event about it, unless a unique key of its kind is taken: one statement writes both or neither, so of copies
 * that arrive at the same time one has an effect. For records of the server without references, files and sealed fields.
 * @param authorize throws AppError permission_denied when the caller may not create the record
 * @returns the row; undefined when there is one already
 * @throws AppError invalid_input, permission_denied
 */
export async function createOnce(
  work: ChangeWork,
  creation: Creation,
  creator: Creator,
  authorize: (module: EntityModule, row: Row) => Promise<void>,
  eventOf: (row: Row) => EventDraft,
): Promise<Row | undefined> {
  const { module } = creation;
  const [made] = newRows([creation], creator);
  const row = made?.row as Row;
  await authorize(module, row);
  let isNew = false;
  await work.changeRows(databaseRoleOf(creator.caller), module, async (session) => {
    const { entries, countEffects } = prepareRecords([creationOf(module, row)], [eventOf(row)], work);
    const { text, values } =
      compileSql(sql`with stored as (${insertion(module, [row])} on conflict do nothing returning id)
      select write_changes(${JSON.stringify(entries)}::jsonb) as messages from stored`);
    const [stored] = (await session.query<{ messages: number }>(text, values)).rows;
    isNew = stored !== undefined;
    if (stored) countEffects({ events: entries.events, messages: stored.messages });
    // All that follows is recorded by the statement itself.
    return [];
  });
  return isNew ? row : undefined;
}

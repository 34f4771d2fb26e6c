import { sql } from 'kysely';
import { onceForEach } from '../base/once-for-each.ts';
import type { EntityModule } from '../model/define.ts';
import type { EventDraft } from '../model/event-draft.ts';
import { compileSql, type Statement } from '../storage/sql.ts';
import { prepareRecords } from '../write/change-log.ts';
import type { ChangeWork } from '../write/change-work.ts';
import { newRows, type Creation, type Creator } from '../write/creations.ts';
import { creationOf, documentsOf, insertion } from '../write/insert-rows.ts';

type Row = Readonly<Record<string, unknown>>;

/** The statement for each kind, which is compiled once. Its parameters are the rows (`documentsOf`) and what is recorded of them. */
const statementOf = onceForEach((module: EntityModule): Statement =>
  compileSql(sql`with stored as (${insertion(module, [])} on conflict do nothing returning id)
    select write_changes(${''}::jsonb)::text as written from stored`),
);

/**
 * Creates a record with an event about it, unless a unique key of its kind is taken: one statement writes both or neither, so of copies
 * that arrive at the same time one has an effect. It is the whole unit of work, and ends it. For records of the server without references,
 * files and sealed fields.
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
  const { entries, countEffects } = prepareRecords([creationOf(module, row)], [eventOf(row)], work);
  const values = [documentsOf(module, [row]), JSON.stringify(entries)];
  let isNew = false;
  await work.changeInOneStatement(module, { text: statementOf(module).text, values }, ([stored]) => {
    isNew = stored !== undefined;
    if (stored) countEffects(Number(stored[0]));
  });
  return isNew ? row : undefined;
}

import { sql } from 'kysely';
import type { NewRow } from './creations.ts';
import type { EntityModule, UniqueKey } from '../model/define.ts';
import { AppError, maxProblems, type FieldProblem } from '../base/errors.ts';
import { rowPath } from '../base/row-path.ts';
import { column } from '../storage/column.ts';
import { compileSql } from '../storage/sql.ts';
import type { RoleSession } from '../storage/transaction.ts';

/**
 * Looks for new rows whose unique keys others have, so that they can be named by their paths. The unique indexes decide in the
 * end, and cannot say which of many rows it was.
 * @throws AppError already_exists
 */
export async function refuseUniqueConflicts(session: RoleSession, rows: readonly NewRow[]): Promise<void> {
  const asked = [...Map.groupBy(rows, ({ module }) => module)].flatMap(([module, made]) =>
    // What the machine makes up has no path to name.
    (module.unique ?? [])
      .filter(({ fields }) => !fields.some((name) => module.fields[name]?.generated))
      .map((key) => ({ module, key, rows: made.filter(({ row }) => key.fields.every((name) => row[name] != null)) })),
  );
  const problems = asked.flatMap((one) => repeated(one));
  const questions = asked.flatMap((one, place) => (one.rows.length > 0 ? [question(one, place)] : []));
  if (questions.length > 0) {
    const { text, values } = compileSql(sql.join(questions, sql` union all `));
    const { rows: taken } = await session.query<{ asked: number; place: number }>(text, values);
    for (const { asked: number, place } of taken) {
      const one = asked[number] as Asked;
      problems.push(...uniqueConflict(one.key, one.rows[place] as NewRow));
    }
  }
  const [first] = problems;
  if (first)
    throw new AppError('already_exists', `${rowPath(first.path)}${first.message}`, {
      details: { fields: problems.slice(0, maxProblems) },
    });
}

interface Asked {
  readonly module: EntityModule;
  readonly key: UniqueKey;
  readonly rows: readonly NewRow[];
}

/** Rows that have the same key as one before them. */
function repeated({ key, rows }: Asked): FieldProblem[] {
  const seen = new Set<string>();
  return rows.flatMap((made) => {
    const value = JSON.stringify(key.fields.map((name) => made.row[name]));
    const isRepeated = seen.has(value);
    seen.add(value);
    return isRepeated ? uniqueConflict(key, made) : [];
  });
}

/** A select of the places of rows whose key a live row has. Columns of unique keys are texts. */
function question({ module, key, rows }: Asked, place: number) {
  const columns = sql.join(key.fields.map((name) => sql`${rows.map(({ row }) => row[name])}::text[]`));
  const names = sql.join([...key.fields.map((name) => sql.id(name)), sql.id('#place')]);
  const same = key.fields.map((name) => sql`${column('held', name)} = ${sql.ref(`given.${name}`)}`);
  return sql`select ${place}::int as asked, given."#place"::int - 1 as place
    from unnest(${columns}) with ordinality as given (${names})
    where exists (select 1 from ${sql.table(module.table)} as held
      where ${sql.join(same, sql` and `)} and held.deleted_at is null)`;
}

/** The problems of a record whose key another one has, with those of its fields that are input. */
export function uniqueConflict(
  { fields, message }: UniqueKey,
  { module, path }: Pick<NewRow, 'module' | 'path'>,
): FieldProblem[] {
  return fields.filter((name) => module.fields[name]).map((name) => ({ path: `${path}/${name}`, message }));
}

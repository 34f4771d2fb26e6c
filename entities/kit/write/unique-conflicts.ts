import { sql } from 'kysely';
import type { NewRow } from './creations.ts';
import type { EntityModule } from '../model/define.ts';
import type { Field } from '../model/declared-field.ts';
import type { UniqueKey } from '../model/record-rules.ts';
import { AppError, maxProblems, type FieldProblem } from '../base/errors.ts';
import { rowPath } from '../base/row-path.ts';
import { shortened } from '../base/shortened.ts';
import { column } from '../storage/column.ts';
import { compileSql } from '../storage/sql.ts';
import type { RoleSession } from '../storage/transaction.ts';

/**
 * Finds new rows whose unique keys are already taken, so that the error has their paths. The unique indexes enforce the keys, but
 * their errors do not name the row.
 * @throws AppError already_exists
 */
export async function refuseUniqueConflicts(session: RoleSession, rows: readonly NewRow[]): Promise<void> {
  const keyChecks = [...Map.groupBy(rows, ({ module }) => module)].flatMap(([module, made]) =>
    // Generated values have no path in the input.
    (module.unique ?? [])
      .filter(({ fields }) => !fields.some((name) => isMade(module.fields[name])))
      .map((key) => ({
        module,
        key,
        rows: made.filter(
          ({ row }) =>
            key.fields.every((name) => row[name] != null) && (key.onlyIf === undefined || row[key.onlyIf] === true),
        ),
      })),
  );
  const problems = keyChecks.flatMap((check) => repeatedKeys(check));
  const queries = keyChecks.flatMap((check, index) => (check.rows.length > 0 ? [conflictQuery(check, index)] : []));
  if (queries.length > 0) {
    const { text, values } = compileSql(sql.join(queries, sql` union all `));
    const { rows: taken } = await session.query<{ check: number; row: number }>(text, values);
    for (const { check, row } of taken) {
      const { key, rows: candidates } = keyChecks[check] as KeyCheck;
      problems.push(...uniqueConflict(key, candidates[row] as NewRow));
    }
  }
  const [first] = problems;
  if (first)
    throw new AppError('already_exists', `${rowPath(first.path)}${first.message}`, {
      details: { fields: problems.slice(0, maxProblems) },
    });
}

/** Whether the server makes the value, and not from another one that was sent. */
function isMade(field: Field | undefined): boolean {
  return field?.generated === true && field.formOf === undefined;
}

/** A unique key, with the new rows that have values for all of its fields. */
interface KeyCheck {
  readonly module: EntityModule;
  readonly key: UniqueKey;
  readonly rows: readonly NewRow[];
}

/** Problems of rows that have the same key as a row before them. */
function repeatedKeys({ key, rows }: KeyCheck): FieldProblem[] {
  const seen = new Set<string>();
  return rows.flatMap((made) => {
    const value = JSON.stringify(key.fields.map((name) => made.row[name]));
    const isRepeated = seen.has(value);
    seen.add(value);
    return isRepeated ? uniqueConflict(key, made) : [];
  });
}

/** Selects the indexes of the rows whose key a live row has. The columns of unique keys are texts. */
function conflictQuery({ module, key, rows }: KeyCheck, index: number) {
  const columns = sql.join(key.fields.map((name) => sql`${rows.map(({ row }) => row[name])}::text[]`));
  const names = sql.join([...key.fields.map((name) => sql.id(name)), sql.id('#row')]);
  const same = key.fields.map((name) => sql`${column('held', name)} = ${sql.ref(`given.${name}`)}`);
  return sql`select ${index}::int as "check", given."#row"::int - 1 as "row"
    from unnest(${columns}) with ordinality as given (${names})
    where exists (select 1 from ${sql.table(module.table)} as held
      where ${sql.join(same, sql` and `)} and held.deleted_at is null${key.onlyIf === undefined ? sql`` : sql` and ${column('held', key.onlyIf)}`})`;
}

/**
 * The problems of a record whose key is taken: one for each field of the key that is part of the input.
 * @param row the record, if the message is to name the values of the input
 */
export function uniqueConflict(
  { fields, message, names }: UniqueKey,
  { module, path, row }: Pick<NewRow, 'module' | 'path'> & Partial<Pick<NewRow, 'row'>>,
): FieldProblem[] {
  const named = names === undefined ? fields.filter((name) => module.fields[name]) : [names];
  return named.map((name) => ({ path: `${path}/${name}`, message: withValue(message, module, name, row?.[name]) }));
}

/** A sentence with the value that it is about, unless clients cannot send it. */
function withValue(message: string, { expose, fields }: EntityModule, name: string, value: unknown): string {
  const isSent = typeof value === 'string' && expose?.[name] === 'read-write' && fields[name]?.secret !== true;
  return isSent ? `${message.replace(/\.$/, '')}: ${JSON.stringify(shortened(value))}.` : message;
}

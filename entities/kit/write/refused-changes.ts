import { sql } from 'kysely';
import { AppError, maxProblems } from '../base/errors.ts';
import { rowPath } from '../base/row-path.ts';
import { snakeCase } from '../base/snake-case.ts';
import type { Caller } from '../model/caller.ts';
import { refusalsOf, type Refusal, type RefusedOperation } from '../model/behaviour.ts';
import { tenancyField, type EntityModule } from '../model/define.ts';
import { compileSql } from '../storage/sql.ts';
import type { ChangeWork } from './change-work.ts';
import type { NewRow } from './creations.ts';

type Row = Readonly<Record<string, unknown>>;

interface Change {
  readonly row: Row;
  /** Changed values; a new row has nothing but what it is given. */
  readonly given?: Row;
}

/**
 * Refuses new rows to which a condition of their kind applies (`refusesChanges`).
 * @throws AppError with the code of the first refusal, and the paths of all that have it
 */
export async function refuseCreations(work: ChangeWork, caller: Caller, rows: readonly NewRow[]): Promise<void> {
  for (const [module, made] of Map.groupBy(rows, (row) => row.module)) {
    const changes = made.map(({ row }) => ({ row }));
    const found = await appliedRefusals(work, { module, caller, operation: 'create' }, changes);
    const [first] = found;
    if (!first) continue;
    const alike = found.filter(({ refusal }) => refusal.code === first.refusal.code).slice(0, maxProblems);
    const fields = alike.map(({ index, refusal }) => ({
      path: `${made[index]?.path ?? ''}/${refusal.field}`,
      message: refusal.message,
    }));
    throw new AppError(first.refusal.code, `${rowPath(fields[0]?.path ?? '')}${first.refusal.message}`, {
      details: { fields },
    });
  }
}

/** The first refusal of each record that a condition of its kind keeps from being changed or deleted, by the record's id. */
export async function refusedChanges(
  work: ChangeWork,
  about: { readonly module: EntityModule; readonly caller: Caller; readonly operation: 'edit' | 'remove' },
  changes: readonly Change[],
): Promise<Map<string, AppError>> {
  const found = await appliedRefusals(work, about, changes);
  const errors = found.map(({ index, refusal: { code, field, message } }): [string, AppError] => [
    changes[index]?.row['id'] as string,
    new AppError(code, message, { details: { fields: [{ path: `/${field}`, message }] } }),
  ]);
  // The first one of a record stays.
  return new Map(errors.toReversed());
}

interface About {
  readonly module: EntityModule;
  readonly caller: Caller;
  readonly operation: RefusedOperation;
}

/**
 * The refusals that apply, the first one of a row first. One statement of the system role, because a condition can concern rows that the caller
 * does not see; none for kinds without refusals of the operation.
 */
async function appliedRefusals(
  work: ChangeWork,
  { module, caller, operation }: About,
  changes: readonly Change[],
): Promise<{ index: number; refusal: Refusal }[]> {
  const refusals = refusalsOf(module).filter(
    ({ on = ['create'], unlessSystem }) => on.includes(operation) && !(unlessSystem && caller.kind === 'system'),
  );
  if (refusals.length === 0 || changes.length === 0) return [];
  const columns = columnsOf(module);
  const recordset = (rows: readonly Row[]) => {
    const documents = rows.map((row, index) => ({
      index,
      ...Object.fromEntries(columns.map(({ name }) => [snakeCase(name), row[name]])),
    }));
    const types = columns.map(({ name, type }) => `"${snakeCase(name)}" ${type}`).join(', ');
    return sql`select * from jsonb_to_recordset(${JSON.stringify(documents)}::jsonb) as stored (index int, ${sql.raw(types)})`;
  };
  const conditions = refusals.map(
    ({ refuseIf }, refusal) => sql`select row.index, ${refusal}::int as refusal from stored as row
      join given on given.index = row.index where ${sql.raw(refuseIf)}`,
  );
  const given =
    operation === 'create'
      ? sql`select * from stored`
      : recordset(changes.map(({ row, given: values }) => ({ ...row, ...values })));
  const { text, values } = compileSql(sql`with stored as (${recordset(changes.map(({ row }) => row))}),
    given as (${given})
    ${sql.join(conditions, sql` union all `)} order by 1, 2`);
  const rows = await work.rowsAsSystem<{ index: number; refusal: number }>(text, values);
  return rows.map(({ index, refusal }) => ({ index, refusal: refusals[refusal] as Refusal }));
}

function columnsOf(module: EntityModule): { name: string; type: string }[] {
  // A secret is not a parameter of a statement before it is encrypted: PostgreSQL may log parameters.
  const open = Object.keys(module.fields).filter((name) => !module.fields[name]?.isSealed);
  const names = ['id', ...tenancyField(module.tenancy), ...open, 'createdAt'];
  return names.map((name) => ({
    name,
    type: module.fields[name]?.columnType ?? (name === 'createdAt' ? 'timestamptz' : 'text'),
  }));
}

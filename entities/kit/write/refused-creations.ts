import { sql } from 'kysely';
import { AppError, maxProblems } from '../base/errors.ts';
import { rowPath } from '../base/row-path.ts';
import { snakeCase } from '../base/snake-case.ts';
import { tenancyField, type EntityModule } from '../model/define.ts';
import { compileSql } from '../storage/sql.ts';
import type { RoleSession } from '../storage/transaction.ts';
import type { NewRow } from './creations.ts';

/**
 * Refuses new rows to which a condition of their kind applies (`refusals`).
 * @param session of the system role: a condition can concern rows that the caller does not see
 * @throws AppError with the code of the first refusal, and the paths of all that have it
 */
export async function refuseCreations(session: RoleSession, rows: readonly NewRow[]): Promise<void> {
  for (const [module, made] of Map.groupBy(rows, (row) => row.module)) {
    const { refusals = [] } = module;
    const found = refusals.length > 0 ? await appliedRefusals(session, module, made) : [];
    const [first] = found;
    if (!first) continue;
    const { code, message } = refusalAt(module, first.refusal);
    const alike = found.filter(({ refusal }) => refusalAt(module, refusal).code === code).slice(0, maxProblems);
    const fields = alike.map(({ index, refusal }) => {
      const { field, message: problem } = refusalAt(module, refusal);
      return { path: `${made[index]?.path ?? ''}/${field}`, message: problem };
    });
    throw new AppError(code, `${rowPath(fields[0]?.path ?? '')}${message}`, { details: { fields } });
  }
}

function refusalAt({ refusals = [] }: EntityModule, index: number) {
  return refusals[index] as NonNullable<EntityModule['refusals']>[number];
}

/** The refusals that apply, by the indexes of row and refusal, the first refusal of a row first. */
async function appliedRefusals(
  session: RoleSession,
  module: EntityModule,
  made: readonly NewRow[],
): Promise<{ index: number; refusal: number }[]> {
  const names = [...tenancyField(module.tenancy), ...Object.keys(module.fields), 'createdAt'];
  const typeOf = (name: string) => module.fields[name]?.columnType ?? (name === 'createdAt' ? 'timestamptz' : 'text');
  const columns = names.map((name) => `${snakeCase(name)} ${typeOf(name)}`);
  const given = made.map(({ row }, index) => ({
    index,
    ...Object.fromEntries(names.map((name) => [snakeCase(name), row[name]])),
  }));
  const conditions = (module.refusals ?? []).map(
    ({ refuseIf }, refusal) =>
      sql`select row.index, ${refusal}::int as refusal from given as row where ${sql.raw(refuseIf)}`,
  );
  const { text, values } = compileSql(sql`with given as (
      select * from jsonb_to_recordset(${JSON.stringify(given)}::jsonb) as given (index int, ${sql.raw(columns.join(', '))}))
    ${sql.join(conditions, sql` union all `)} order by 1, 2`);
  return (await session.query<{ index: number; refusal: number }>(text, values)).rows;
}

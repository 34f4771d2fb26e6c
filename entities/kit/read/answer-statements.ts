import { sql } from 'kysely';
import { limitExceeded } from '../base/input-error.ts';
import type { Caller } from '../model/caller.ts';
import type { EntityModule } from '../model/define.ts';
import { refuseWithoutOrganization } from '../model/current-organization.ts';
import { refuseBeyondLimits, refuseDisabledModule } from '../model/module-gate.ts';
import { column } from '../storage/column.ts';
import { compileSql, type Sql, type Statement } from '../storage/sql.ts';
import { checkAggregate, compileAggregate, type AggregateSelection } from './aggregate.ts';
import { DocumentCompiler } from './document.ts';
import type { PlanCache } from './plan-cache.ts';
import { QueryShape } from './query-shape.ts';
import type { ListsPart, PageSelection, RecordSelection } from './selection.ts';
import type { Viewer } from './viewer.ts';

export interface ReadStatement extends Statement {
  /** The kinds that the selection names. */
  readonly modules: ReadonlySet<EntityModule>;
}

/**
 * Compiles a list with everything selected below it into one statement, which returns the answer as JSON text in the column
 * `result`. The number of statements does not depend on the number of rows. The WHERE clause of each kind has its tenant filter, the
 * condition on soft-deleted rows and the rules.
 * @throws AppError invalid_cursor, invalid_input, module_not_enabled, no_current_organization
 */
export function compilePage(page: PageSelection, caller: Caller, plans: PlanCache): ReadStatement {
  refuseWithoutOrganization(page.module, caller);
  refuseDisabledModule(page.module, caller);
  refuseBeyondLimits(page.module, 'view', caller);
  const shape = new QueryShape();
  const shaped = shape.page(page);
  return planned('page', shape, caller, plans, (viewer) =>
    withMaxSize(sql`select ${new DocumentCompiler(viewer).page(shaped)} as result`),
  );
}

/** Compiles the aggregate of a list. @throws AppError invalid_input, module_not_enabled, no_current_organization */
export function compileAggregates(selection: AggregateSelection, caller: Caller, plans: PlanCache): ReadStatement {
  refuseWithoutOrganization(selection.module, caller);
  refuseDisabledModule(selection.module, caller);
  refuseBeyondLimits(selection.module, 'view', caller);
  checkAggregate(selection);
  const shape = new QueryShape();
  const shaped = shape.aggregate(selection);
  return planned('aggregate', shape, caller, plans, (viewer) => withMaxSize(compileAggregate(shaped, viewer)));
}

/** Compiles several lists into one statement, which returns one JSON object. @throws AppError invalid_cursor, invalid_input, no_current_organization */
export function compileLists(parts: readonly ListsPart[], caller: Caller, plans: PlanCache): ReadStatement {
  for (const part of parts) if (part.is === 'page') refuseWithoutOrganization(part.page.module, caller);
  const shape = new QueryShape();
  const shaped = shape.lists(parts);
  return planned('lists', shape, caller, plans, (viewer) =>
    withMaxSize(sql`select ${new DocumentCompiler(viewer).lists(shaped)} as result`),
  );
}

/** Compiles one record. The statement returns no row when the caller may see no record with this id. @throws AppError module_not_enabled, no_current_organization */
export function compileRecord(record: RecordSelection, id: string, caller: Caller, plans: PlanCache): ReadStatement {
  refuseWithoutOrganization(record.module, caller);
  refuseDisabledModule(record.module, caller);
  refuseBeyondLimits(record.module, 'view', caller);
  const shape = new QueryShape();
  const shaped = shape.record(record);
  const wanted = shape.placeholder(id);
  return planned('record', shape, caller, plans, (viewer) =>
    withMaxSize(new DocumentCompiler(viewer).recordOf(shaped, (alias) => sql`${column(alias, 'id')} = ${wanted}`)),
  );
}

/** Compiles several records into one JSON list in the order of the ids, without the records that the caller may not see. */
export function compileRecords(
  record: RecordSelection,
  ids: readonly string[],
  caller: Caller,
  plans: PlanCache,
): ReadStatement {
  const shape = new QueryShape();
  const shaped = shape.record(record);
  const wanted = shape.placeholder(ids);
  return planned('records', shape, caller, plans, (viewer) => {
    const found = new DocumentCompiler(viewer).recordOf(shaped, (alias) => sql`${column(alias, 'id')} = given.id`);
    return withMaxSize(sql`select coalesce(json_agg(found.result order by given.position), '[]'::json) as result
      from unnest(${wanted}::text[]) with ordinality as given (id, position) cross join lateral (${found}) as found`);
  });
}

/** Checks selections without compiling them. @throws AppError invalid_cursor, invalid_input as compiling them would */
export function checkSelections(records: readonly RecordSelection[]): void {
  const shape = new QueryShape();
  const checked = new Set<RecordSelection['parts']>();
  for (const record of records) {
    if (!checked.has(record.parts)) shape.record(record);
    checked.add(record.parts);
  }
}

/**
 * Records of several kinds by id, as one JSON list in the order of the ids: the name of the kind's type and the selected values,
 * or null where there is no record that the caller may view.
 * @param kinds the kind of each id (`topic`); null where it is not known
 */
export function compileNodes(
  records: readonly RecordSelection[],
  ids: readonly string[],
  kinds: readonly (string | null)[],
  caller: Caller,
  plans: PlanCache,
): ReadStatement {
  const shape = new QueryShape();
  const shaped = records.map((record) => shape.record(record));
  const wanted = shape.placeholder(ids);
  const wantedKinds = shape.placeholder(kinds);
  return planned('nodes', shape, caller, plans, (viewer) => {
    const compiler = new DocumentCompiler(viewer);
    const branches = shaped.map((record) => {
      const isOfKind = sql`given.kind = ${record.module.topic}::text`;
      const found = compiler.recordOf(record, (alias) => sql`${isOfKind} and ${column(alias, 'id')} = given.id`);
      return sql`select ${record.module.typeName}::text as type, of_kind.result as record from (${found}) as of_kind`;
    });
    return withMaxSize(sql`select coalesce(json_agg(row_to_json(found) order by given.position), '[]'::json) as result
      from unnest(${wanted}::text[], ${wantedKinds}::text[]) with ordinality as given (id, kind, position)
      left join lateral (${sql.join(branches, sql` union all `)} limit 1) as found on true`);
  });
}

/** The statement of a selection, compiled at most once for callers with the same answers. @param form of the answer; part of the key of the plan */
function planned(
  form: string,
  { key, values, modules }: QueryShape,
  caller: Caller,
  plans: PlanCache,
  compile: (viewer: Viewer) => Statement,
): ReadStatement {
  return { ...plans.statement(`${form} ${key}`, values, caller, compile), modules };
}

/** Maximum size of the answer of one statement, in bytes. The database does not return a larger one. */
const maxAnswerBytes = 16 * 1024 * 1024;

/** Makes a statement return `result` as text, or null when it is larger than `maxAnswerBytes`. */
function withMaxSize(statement: Sql): Statement {
  return compileSql(sql`select case when octet_length(result) <= ${maxAnswerBytes} then result end as result
    from (select result::text as result from (${statement}) as made offset 0) as measured`);
}

/** The JSON text in the row of a statement made by `withMaxSize`. @throws AppError limit_exceeded */
export function answerIn([answer]: readonly (string | null)[]): string {
  if (answer === null || answer === undefined)
    throw limitExceeded(`The answer would have more than ${maxAnswerBytes} bytes; ask for smaller pages.`, {
      path: '/first',
      message: `must be smaller: the answer would have more than ${maxAnswerBytes} bytes`,
    });
  return answer;
}

import { sql } from 'kysely';
import type { Caller } from '../model/caller.ts';
import { AppError } from '../base/errors.ts';
import { refuseSwitchedOff } from '../model/product-modules.ts';
import { column } from '../storage/column.ts';
import { DocumentCompiler, type ListsPart, type PageSelection, type RecordSelection } from './document.ts';
import { QueryShape } from './query-shape.ts';
import { planned } from './plan.ts';
import { compileSql, type Sql, type Statement } from '../storage/sql.ts';

/**
 * Compiles a list with everything below it into one statement, which returns the answer as JSON text, `result`. The
 * number of statements never depends on the number of rows; tenancy, soft delete and rules stand in the WHERE of each kind.
 * @throws AppError invalid_cursor, invalid_input, module_not_enabled
 */
export function compilePage(page: PageSelection, caller: Caller): Statement {
  refuseSwitchedOff(page.module, caller);
  const outline = new QueryShape();
  outline.page(page);
  return planned(`page ${outline.key}`, outline.values, caller, (someone) =>
    sized(sql`select ${new DocumentCompiler(someone, outline).page(page)} as result`),
  );
}

/** Several lists as one JSON object, in one statement. @throws AppError invalid_cursor, invalid_input */
export function compileLists(parts: readonly ListsPart[], caller: Caller): Statement {
  const outline = new QueryShape();
  outline.lists(parts);
  return planned(`lists ${outline.key}`, outline.values, caller, (someone) =>
    sized(sql`select ${new DocumentCompiler(someone, outline).lists(parts)} as result`),
  );
}

/** The same for one record; no row when there is none that the caller may see. @throws AppError module_not_enabled */
export function compileRecord(record: RecordSelection, id: string, caller: Caller): Statement {
  refuseSwitchedOff(record.module, caller);
  const outline = new QueryShape();
  outline.record(record);
  const wanted = outline.slotFor(id);
  return planned(`record ${outline.key}`, outline.values, caller, (someone) =>
    sized(new DocumentCompiler(someone, outline).recordOf(record, (alias) => sql`${column(alias, 'id')} = ${wanted}`)),
  );
}

/** The same for several records, as one JSON list in the order of the ids; what the caller may not see is left out. */
export function compileRecords(record: RecordSelection, ids: readonly string[], caller: Caller): Statement {
  const outline = new QueryShape();
  outline.record(record);
  const wanted = outline.slotFor(ids);
  return planned(`records ${outline.key}`, outline.values, caller, (someone) => {
    const found = new DocumentCompiler(someone, outline).recordOf(
      record,
      (alias) => sql`${column(alias, 'id')} = given.id`,
    );
    return sized(sql`select coalesce(json_agg(found.result order by given.place), '[]'::json) as result
      from unnest(${wanted}::text[]) with ordinality as given (id, place) cross join lateral (${found}) as found`);
  });
}

/** @throws AppError invalid_cursor, invalid_input: what compiling any of these selections would throw */
export function checkSelections(records: readonly RecordSelection[]): void {
  const outline = new QueryShape();
  const checked = new Set<RecordSelection['parts']>();
  for (const record of records) {
    if (!checked.has(record.parts)) outline.record(record);
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
): Statement {
  const outline = new QueryShape();
  for (const record of records) outline.record(record);
  const wanted = outline.slotFor(ids);
  const wantedKinds = outline.slotFor(kinds);
  return planned(`nodes ${outline.key}`, outline.values, caller, (someone) => {
    const compiler = new DocumentCompiler(someone, outline);
    const branches = records.map((record) => {
      const isOfKind = sql`given.kind = ${record.module.topic}::text`;
      const found = compiler.recordOf(record, (alias) => sql`${isOfKind} and ${column(alias, 'id')} = given.id`);
      return sql`select ${record.module.typeName}::text as type, of_kind.result as record from (${found}) as of_kind`;
    });
    return sized(sql`select coalesce(json_agg(row_to_json(found) order by given.place), '[]'::json) as result
      from unnest(${wanted}::text[], ${wantedKinds}::text[]) with ordinality as given (id, kind, place)
      left join lateral (${sql.join(branches, sql` union all `)} limit 1) as found on true`);
  });
}

/** Largest answer of one statement, in bytes: what is larger never leaves the database. */
const largestAnswer = 16 * 1024 * 1024;

/** A row of `result`, the JSON as text; empty when it would be too large. */
function sized(statement: Sql): Statement {
  return compileSql(sql`select case when octet_length(result) <= ${largestAnswer} then result end as result
    from (select result::text as result from (${statement}) as made offset 0) as measured`);
}

/** What such a statement found, as JSON text. @param row of it @throws AppError limit_exceeded */
export function answerIn([answer]: readonly (string | null)[]): string {
  if (answer === null || answer === undefined)
    throw new AppError('limit_exceeded', 'The answer would be too large; ask for smaller pages.');
  return answer;
}

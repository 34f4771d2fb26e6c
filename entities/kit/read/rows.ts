import { sql } from 'kysely';
import { tenancyField, type EntityModule } from '../model/define.ts';
import { recordFieldNames } from '../model/derived/record-fields.ts';
import { AppError } from '../base/errors.ts';
import { onceForEach } from '../base/once-for-each.ts';
import type { Caller } from '../model/caller.ts';
import { compileSql, type Sql, type Statement } from '../storage/sql.ts';
import { column } from '../storage/column.ts';
import { orderBy, totalOrder } from './order.ts';
import type { Placeholder } from './placeholder.ts';
import type { PlanCache } from './plan-cache.ts';
import { QueryShape } from './query-shape.ts';
import type { LockedOperation, RowsSelection } from './selection.ts';
import type { Viewer } from './viewer.ts';
import { visible, visibleInList } from './visibility.ts';
import { allOf, comparisons } from './where.ts';

/**
 * The lock of rows that are changed or deleted. New references lock their targets as well (FOR KEY SHARE), those of an import for as long as
 * it takes: a deletion waits for them, and a change, for example the sign-in of a person to whom tasks are assigned, does not.
 */
export function lockOf(operation: LockedOperation): Sql {
  return operation === 'remove' ? sql`for update of row` : sql`for no key update of row`;
}

/** All columns of a kind as field names, secrets included: whole rows stay inside the data layer. */
function fieldNames(module: EntityModule): string[] {
  return [...recordFieldNames, ...tenancyField(module.tenancy), ...Object.keys(module.fields)];
}

/**
 * All columns of a row, whose alias is `row`, each under the name of its field. They are compiled once: to compile them for each read costs
 * more than all other parts of it together.
 */
export const wholeRow = onceForEach((module: EntityModule): Sql => {
  const columns = sql.join(
    fieldNames(module).map((name) => {
      // The driver returns bigint as text. The values of integer fields are exact as JavaScript numbers.
      const type = module.fields[name]?.columnType === 'bigint' ? sql`::float8` : sql``;
      return sql`${column('row', name)}${type} as ${sql.id(name)}`;
    }),
  );
  return sql.raw(compileSql(columns).text);
});

/**
 * Compiles a read of whole rows, for changes and decisions. Its WHERE clause has the tenant filter, the condition on soft-deleted
 * rows and the rules; values are bound.
 * @throws AppError invalid_input for a field that the kind does not have
 */
export function compileRows(
  module: EntityModule,
  selection: RowsSelection,
  caller: Caller,
  plans: PlanCache,
): Statement {
  const shape = new QueryShape();
  const shaped = shape.rows(module, selection);
  return plans.statement(shape.key, shape.values, caller, (viewer) => compileShaped(module, shaped, viewer));
}

function compileShaped(
  module: EntityModule,
  { where = {}, orderBy: terms = [], limit, lockFor }: RowsSelection<Placeholder>,
  viewer: Viewer,
): Statement {
  const conditions = [
    where['id']?.eq === undefined ? visibleInList(module, 'row', viewer) : visible(module, 'row', viewer),
    ...Object.entries(where).flatMap(([name, comparison]) =>
      comparisons({ module, alias: 'row', viewer }, knownField(module, name), comparison),
    ),
  ];
  for (const { field } of terms) knownField(module, field);
  return compileSql(sql`select ${wholeRow(module)} from ${sql.table(module.table)} as row
    where ${allOf(conditions)} order by ${orderBy(module, 'row', totalOrder(module, terms))} limit ${limit}
    ${lockFor ? lockOf(lockFor) : sql``}`);
}

function knownField(module: EntityModule, name: string): string {
  if (fieldNames(module).includes(name)) return name;
  throw new AppError('invalid_input', `${module.typeName} has no field "${name}".`);
}

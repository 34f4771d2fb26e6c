import { sql } from 'kysely';
import { inputError } from '../base/input-error.ts';
import type { EntityModule } from '../model/define.ts';
import { readableFields } from '../model/exposure.ts';
import { column } from '../storage/column.ts';
import type { Sql } from '../storage/sql.ts';
import type { ChoiceWords } from './choice-form.ts';
import type { Filter } from './filter.ts';
import { formatColumn } from './format-column.ts';
import { fromClause, visibleRows } from './from-clause.ts';
import { listScope } from './scope.ts';
import type { Viewer } from './viewer.ts';
import { Aliases, allOf, filterPredicate } from './where.ts';

/** Aggregates of the records of a list, together or in groups. */
export interface AggregateSelection {
  readonly module: EntityModule;
  readonly filter?: Filter;
  /** Names of groupings (`groupingsOf`); without one, all records are one group. */
  readonly groupBy: readonly string[];
  /** Fields whose sum, smallest, largest and average value are wanted (`numbersOf`). */
  readonly numbers: readonly string[];
  /** Maximum number of groups: those with the most records. */
  readonly size: number;
  readonly words: ChoiceWords;
}

/** Fields by which records can be grouped: a value of a field, or the day of a time, in UTC. */
export interface Grouping {
  readonly name: string;
  readonly field: string;
  readonly by: 'value' | 'day';
  readonly description: string;
}

export const maxGroupings = 3;

const times = ['createdAt', 'updatedAt'] as const;

export function groupingsOf(module: EntityModule): readonly Grouping[] {
  const declared = readableFields(module).flatMap(([field, { type, description }]): Grouping[] => {
    if (['choice', 'boolean', 'reference', 'date'].includes(type))
      return [{ name: field, field, by: 'value', description }];
    return type === 'timestamp' ? [dayOf(field, description)] : [];
  });
  return [
    ...declared,
    ...times.map((field) =>
      dayOf(field, field === 'createdAt' ? 'When the record was created.' : 'When it was changed.'),
    ),
  ];
}

function dayOf(field: string, description: string): Grouping {
  return { name: `${field}Day`, field, by: 'day', description: `${description} The day, in UTC.` };
}

/** Fields whose values can be added up. */
export function numbersOf(module: EntityModule): readonly string[] {
  return readableFields(module).flatMap(([name, { type }]) => (['integer', 'decimal'].includes(type) ? [name] : []));
}

/** @throws AppError invalid_input */
export function checkAggregate({ groupBy }: AggregateSelection): void {
  if (groupBy.length > maxGroupings)
    throw inputError([{ path: '/groupBy', message: `must have at most ${maxGroupings} items` }]);
}

/**
 * One JSON list with an object for each group: its `keys`, `count` and `numbers`, as text without zeros at the end, since numbers of JSON
 * would round them. The caller sees what they see in the list.
 */
export function compileAggregate(selection: AggregateSelection, viewer: Viewer): Sql {
  const { module, filter, groupBy, numbers, size, words } = selection;
  const aliases = new Aliases();
  const rows = aliases.next();
  const groupings = groupBy.map((name) => groupingsOf(module).find((grouping) => grouping.name === name) as Grouping);
  const keys = groupings.map((grouping, index) => ({ grouping, alias: `key${index}` }));
  const conditions = [
    listScope(module, rows, viewer),
    visibleRows(module, rows, viewer),
    ...(filter ? [filterPredicate(filter, { module, alias: rows, viewer }, aliases)] : []),
  ];
  const columns = [
    ...keys.map(({ grouping, alias }) => sql`${keyOf(module, grouping, rows, words)} as ${sql.id(alias)}`),
    sql`count(*) as "count"`,
    ...numbers.flatMap((name, index) => {
      const value = column(rows, name);
      const currency = module.fields[name]?.pairedWith;
      // Amounts in several currencies are not added up, and none is the largest.
      const plain = (number: Sql) => {
        const text = sql`trim_scale((${number})::numeric)::text`;
        return currency === undefined
          ? text
          : sql`case when count(distinct ${column(rows, currency)}) <= 1 then ${text} end`;
      };
      return [
        sql`${plain(sql`sum(${value})`)} as ${sql.id(`sum${index}`)}`,
        sql`${plain(sql`min(${value})`)} as ${sql.id(`min${index}`)}`,
        sql`${plain(sql`max(${value})`)} as ${sql.id(`max${index}`)}`,
        sql`${plain(sql`round(avg(${value}), 6)`)} as ${sql.id(`avg${index}`)}`,
      ];
    }),
  ];
  const grouped =
    keys.length === 0 ? sql`` : sql`group by ${sql.join(keys.map((_key, index) => sql.raw(String(index + 1))))}`;
  const order = [sql`"count" desc`, ...keys.map(({ alias }) => sql.id(alias))];
  const made = sql`select ${sql.join(columns)} from ${fromClause(module)} as ${sql.ref(rows)} where ${allOf(conditions)}
    ${grouped} order by ${sql.join(order)} limit ${size}`;
  const object = (names: readonly string[], value: (index: number) => Sql) =>
    names.length === 0
      ? sql`'{}'::json`
      : sql`json_build_object(${sql.join(names.flatMap((name, index) => [sql`${name}::text`, value(index)]))})`;
  const ofGroup = sql`json_build_object('keys', ${object(groupBy, (index) => sql.ref(`found.key${index}`))},
    'count', found."count", 'numbers', ${object(
      numbers,
      (index) => sql`json_build_object('sum', ${sql.ref(`found.sum${index}`)}, 'min', ${sql.ref(`found.min${index}`)},
        'max', ${sql.ref(`found.max${index}`)}, 'avg', ${sql.ref(`found.avg${index}`)})`,
    )})`;
  return sql`select coalesce(json_agg(${ofGroup}), '[]'::json) as result from (${made}) as found`;
}

function keyOf(module: EntityModule, { field, by }: Grouping, rows: string, words: ChoiceWords): Sql {
  if (by === 'value') return formatColumn(module, field, rows, words);
  return sql`to_char(${column(rows, field)} at time zone 'UTC', 'YYYY-MM-DD')`;
}

import { sql } from 'kysely';
import type { Caller } from '../model/caller.ts';
import { AppError } from '../base/errors.ts';
import { isStorable, normalized } from '../model/input.ts';
import type { EntityModule } from '../model/define.ts';
import { searchFunctionName } from '../storage/search-function.ts';
import type { Relation } from './relations.ts';
import type { Sql } from '../storage/sql.ts';
import { snakeCase } from '../base/snake-case.ts';
import { column } from '../storage/column.ts';
import { visible } from './visibility.ts';

/** Comparisons of one field; all of them must hold. */
export interface Comparison {
  readonly eq?: unknown;
  readonly ne?: unknown;
  readonly in?: readonly unknown[];
  readonly notIn?: readonly unknown[];
  readonly gt?: unknown;
  readonly gte?: unknown;
  readonly lt?: unknown;
  readonly lte?: unknown;
  readonly contains?: string;
  readonly startsWith?: string;
  readonly isNull?: boolean;
  /** A list holds this. */
  readonly has?: string;
}

/** A condition on records. */
export type Filter =
  | { readonly is: 'field'; readonly field: string; readonly comparison: Comparison }
  /** There is such a record that the caller may see, and it meets the filter. */
  | { readonly is: 'related'; readonly relation: Relation; readonly filter: Filter }
  /** The record is found by a text (search-function.ts). */
  | { readonly is: 'found'; readonly module: EntityModule; readonly text: string }
  | { readonly is: 'and' | 'or'; readonly filters: readonly Filter[] }
  | { readonly is: 'not'; readonly filter: Filter };

/** Gives each row source of a statement a name of its own. */
export class Aliases {
  #count = 0;

  next(): string {
    return `t${this.#count++}`;
  }
}

/** The statement that a filter is part of. */
export interface FilterScope {
  readonly aliases: Aliases;
  /** What is to be written into the statement instead of values. */
  readonly outline: {
    operandsOf(comparison: Comparison): Comparison;
    textOf(filter: Filter): unknown;
  };
}

/** Rows as a statement looks at them. */
export interface Rows {
  readonly module: EntityModule;
  readonly alias: string;
  readonly caller: Caller;
}

/** @throws AppError invalid_input for values that cannot be compared */
export function filterPredicate(filter: Filter, rows: Rows, scope: FilterScope): Sql {
  const { alias, caller } = rows;
  switch (filter.is) {
    case 'field':
      return allOf(comparisons(rows, filter.field, scope.outline.operandsOf(filter.comparison)));
    case 'and':
      return allOf(filter.filters.map((part) => filterPredicate(part, rows, scope)));
    case 'or':
      if (filter.filters.length === 0) return sql`false`;
      return sql`(${sql.join(
        filter.filters.map((part) => filterPredicate(part, rows, scope)),
        sql` or `,
      )})`;
    case 'not':
      // What is unknown, because a field is empty, does not meet the filter and so does meet its opposite.
      return sql`(${filterPredicate(filter.filter, rows, scope)}) is not true`;
    case 'found':
      return sql`${column(alias, 'id')} in (select ${sql.id(searchFunctionName(filter.module))}(${scope.outline.textOf(filter)}))`;
    case 'related': {
      const { relation } = filter;
      const other = scope.aliases.next();
      return sql`exists (select 1 from ${sql.table(relation.target.table)} as ${sql.ref(other)}
        where ${link(relation, alias, other)} and ${visible(relation.target, other, caller)}
        and ${filterPredicate(filter.filter, { module: relation.target, alias: other, caller }, scope)})`;
    }
    default:
      filter satisfies never;
      throw new Error('unknown filter');
  }
}

/** What ties the records of a relation to the record it goes out from. */
export function link(relation: Relation, from: string, to: string): Sql {
  return relation.is === 'one'
    ? sql`${column(to, 'id')} = ${column(from, relation.field)}`
    : sql`${column(to, relation.field)} = ${column(from, 'id')}`;
}

export function allOf(conditions: readonly Sql[]): Sql {
  return conditions.length === 0 ? sql`true` : sql.join(conditions, sql` and `);
}

/** @throws AppError invalid_input */
export function comparisons(rows: Rows, name: string, comparison: Comparison): Sql[] {
  const left = column(rows.alias, name);
  return Object.entries(comparison).map(([operator, given]) => {
    const value = operandOf(rows.module, name, given);
    switch (operator as keyof Comparison) {
      case 'eq':
        return sql`${left} = ${value}`;
      case 'ne':
        return sql`${left} is distinct from ${value}`;
      case 'in':
        return sql`${left} = any(${value})`;
      case 'notIn':
        return sql`(${left} = any(${value})) is not true`;
      case 'gt':
        return sql`${left} > ${value}`;
      case 'gte':
        return sql`${left} >= ${value}`;
      case 'lt':
        return sql`${left} < ${value}`;
      case 'lte':
        return sql`${left} <= ${value}`;
      case 'contains':
        return sql`strpos(${left}, ${value}) > 0`;
      case 'startsWith':
        return sql`starts_with(${left}, ${value})`;
      case 'has':
        return holding(rows, name, value);
      case 'isNull':
        return value === true ? sql`${left} is null` : sql`${left} is not null`;
      default:
        throw new AppError('invalid_input', `"${operator}" is not a comparison.`);
    }
  });
}

/**
 * Rows whose list holds a word. The operators of arrays may tell of rows behind the wall, so PostgreSQL uses no index for them
 * there; this function looks into the caller's own organization and nowhere else (docs/decisions/indexes-below-the-wall.md).
 */
function holding({ module, alias, caller }: Rows, field: string, word: unknown): Sql {
  if (module.tenancy !== 'organization' || caller.organizationId === null)
    return sql`${word} = any(${column(alias, field)})`;
  return sql`${column(alias, 'id')} in (select records_holding(${module.table}, ${snakeCase(field)}, ${word}))`;
}

/**
 * What a field is compared with: in the form in which its values are stored, so that whatever can be given is found again.
 * @throws AppError invalid_input for a value that nothing can be compared with
 */
export function operandOf(module: EntityModule, name: string, value: unknown): unknown {
  if (value === null || value === undefined)
    throw new AppError('invalid_input', `"${name}" is compared with nothing; use isNull to ask for empty fields.`);
  if (!isStorable(value))
    throw new AppError('invalid_input', `"${name}" is compared with text that no record can hold.`);
  const field = module.fields[name];
  if (!field) return value;
  return Array.isArray(value) ? value.map((each: unknown) => normalized(field, each)) : normalized(field, value);
}

/** Names a kind's records can be found by besides those its file lists. */
export const alwaysFilterable = ['id', 'createdAt', 'updatedAt'] as const;

export function filterableFields(module: EntityModule): readonly string[] {
  return [...(module.historyOf ? ['id'] : alwaysFilterable), ...module.filter];
}

/** Fields by which a kind's records can be ordered. */
export function orderableFields(module: EntityModule): string[] {
  return [...new Set([...module.order, ...(module.historyOf ? [] : ['createdAt', 'updatedAt'])])];
}

import { sql } from 'kysely';
import { AppError } from '../base/errors.ts';
import { isStorable, normalized } from '../model/input.ts';
import type { EntityModule } from '../model/define.ts';
import type { Comparison, Filter } from './filter.ts';
import type { Relation } from './relations.ts';
import type { Sql } from '../storage/sql.ts';
import { snakeCase } from '../base/snake-case.ts';
import { column } from '../storage/column.ts';
import { matchedForm } from '../storage/matched-form.ts';
import { comparedColumn, orderedColumn } from '../storage/text-order.ts';
import { partOperators } from './operators.ts';
import type { Viewer } from './viewer.ts';
import { visible } from './visibility.ts';

/** Generates a unique alias for each row source of a statement. */
export class Aliases {
  #count = 0;

  next(): string {
    return `t${this.#count++}`;
  }
}

/** A row source of a statement, with the caller that reads it. */
export interface Rows {
  readonly module: EntityModule;
  readonly alias: string;
  readonly viewer: Viewer;
}

/** @param filter with operands that are normalized or placeholders (`operandsOf`) */
export function filterPredicate(filter: Filter, rows: Rows, aliases: Aliases): Sql {
  const { alias, viewer } = rows;
  switch (filter.is) {
    case 'field':
      return allOf(comparisons(rows, filter.field, filter.comparison));
    case 'and':
      return allOf(filter.filters.map((part) => filterPredicate(part, rows, aliases)));
    case 'or':
      if (filter.filters.length === 0) return sql`false`;
      return sql`(${sql.join(
        filter.filters.map((part) => filterPredicate(part, rows, aliases)),
        sql` or `,
      )})`;
    case 'not':
      // A comparison with a null field is unknown: the row does not meet the filter, so it meets the negated filter.
      return sql`(${filterPredicate(filter.filter, rows, aliases)}) is not true`;
    case 'related': {
      const { relation } = filter;
      const other = aliases.next();
      return sql`exists (select 1 from ${sql.table(relation.target.table)} as ${sql.ref(other)}
        where ${joinPredicate(relation, alias, other)} and ${visible(relation.target, other, viewer)}
        and ${filterPredicate(filter.filter, { module: relation.target, alias: other, viewer }, aliases)})`;
    }
    case 'openProposal': {
      // Without workflows nobody decides, and a statement costs nothing more.
      if (!viewer.hasWorkflows) return sql`false`;
      const open: Filter = { is: 'field', field: 'endedAt', comparison: { isNull: true } };
      return filterPredicate({ is: 'related', relation: filter.relation, filter: open }, rows, aliases);
    }
    default:
      filter satisfies never;
      throw new Error('unknown filter');
  }
}

/** Joins the records of a relation to the record that the relation starts from. */
export function joinPredicate(relation: Relation, from: string, to: string): Sql {
  if (relation.is === 'many' && relation.via) {
    const { module, own, other } = relation.via;
    const link = `${to}_link`;
    return sql`${column(to, 'id')} in (select ${column(link, other)} from ${sql.table(module.table)} as ${sql.ref(link)}
      where ${column(link, own)} = ${column(from, 'id')} and ${column(link, 'deletedAt')} is null)`;
  }
  return relation.is === 'one'
    ? sql`${column(to, 'id')} = ${column(from, relation.field)}`
    : sql`${column(to, relation.field)} = ${column(from, 'id')}`;
}

export function allOf(conditions: readonly Sql[]): Sql {
  return conditions.length === 0 ? sql`true` : sql.join(conditions, sql` and `);
}

/** @param comparison with operands as `operandsOf` returns them @throws AppError invalid_input for an unknown operator */
export function comparisons(rows: Rows, name: string, comparison: Comparison): Sql[] {
  const { module, alias } = rows;
  const left = column(alias, name);
  const compared = comparedColumn(module, alias, name);
  const ordered = orderedColumn(module, alias, name);
  const form = matchedForm(left);
  return Object.entries(comparison).map(([operator, value]: [string, unknown]) => {
    // In parentheses it is computed once, not for each row.
    const part = sql`(select ${matchedForm(sql`${value}`)})`;
    switch (operator as keyof Comparison) {
      case 'eq':
        return sql`${compared} = ${value}`;
      case 'ne':
        return sql`${left} is distinct from ${value}`;
      case 'in':
        return sql`${compared} = any(${value})`;
      case 'notIn':
        return sql`(${left} = any(${value})) is not true`;
      case 'gt':
        return sql`${ordered} > ${value}`;
      case 'gte':
        return sql`${ordered} >= ${value}`;
      case 'lt':
        return sql`${ordered} < ${value}`;
      case 'lte':
        return sql`${ordered} <= ${value}`;
      case 'contains':
        return sql`strpos(${form}, ${part}) > 0`;
      case 'startsWith':
        return beginsPredicate(rows, name, value);
      case 'endsWith':
        return sql`right(${form}, length(${part})) = ${part}`;
      case 'has':
        return containsPredicate(rows, name, value);
      case 'isNull':
        return value === true ? sql`${left} is null` : sql`${left} is not null`;
      default:
        throw new AppError('invalid_input', `"${operator}" is not a comparison.`);
    }
  });
}

/** Whether the rows that a caller sees are all of their own organization, in which functions look them up. */
function isOfOneOrganization({ module, viewer }: Rows): boolean {
  return module.tenancy === 'organization' && !module.rlsUsing && viewer.organizationId !== undefined;
}

/**
 * Predicate for rows whose text begins with another one, in the matched form. The form is computed by functions that are not leakproof, so
 * below row-level security no index serves it; `records_beginning` reads the caller's own organization only.
 */
function beginsPredicate(rows: Rows, field: string, beginning: unknown): Sql {
  const { module, alias } = rows;
  if (!isOfOneOrganization(rows))
    return sql`starts_with(${matchedForm(column(alias, field))}, (select ${matchedForm(sql`${beginning}`)}))`;
  return sql`${column(alias, 'id')} in (select records_beginning(${module.table}, ${snakeCase(field)}, ${beginning}))`;
}

/**
 * Predicate for rows whose list contains a value. PostgreSQL uses no index for array operators below row-level security, because these operators
 * are not leakproof; this function reads the caller's own organization only (docs/decisions/indexes-below-row-level-security.md).
 */
function containsPredicate(rows: Rows, field: string, word: unknown): Sql {
  const { module, alias } = rows;
  if (!isOfOneOrganization(rows)) return sql`${word} = any(${column(alias, field)})`;
  return sql`${column(alias, 'id')} in (select records_holding(${module.table}, ${snakeCase(field)}, ${word}))`;
}

/**
 * Converts the operands of a comparison to the stored form of the field's values.
 * @param bind can replace an operand by a placeholder
 * @throws AppError invalid_input for an operand that no field can have as its value
 */
export function operandsOf(
  module: EntityModule,
  name: string,
  comparison: Comparison,
  bind: (operator: string, operand: unknown) => unknown = (_operator, operand) => operand,
): Comparison {
  return Object.fromEntries(
    Object.entries(comparison).map(([operator, given]) => [
      operator,
      bind(operator, operandOf(module, name, operator, given)),
    ]),
  );
}

function operandOf(module: EntityModule, name: string, operator: string, value: unknown): unknown {
  if (value === null || value === undefined)
    throw new AppError(
      'invalid_input',
      `"${name}" cannot be compared with null; use isNull to find records without a value.`,
    );
  if (!isStorable(value))
    throw new AppError(
      'invalid_input',
      `"${name}" is compared with a value that cannot be stored: a NUL character, a lone surrogate or an infinite number.`,
    );
  const field = module.fields[name];
  if (!field) return value;
  // A part is compared as it was sent: white space at its ends is significant.
  if (partOperators.has(operator as keyof Comparison)) return value;
  return Array.isArray(value) ? value.map((each: unknown) => normalized(field, each)) : normalized(field, value);
}

/** Fields by which all kinds can be filtered, besides those in `filter`. */
export const alwaysFilterable = ['id', 'createdAt', 'updatedAt'] as const;

export function filterableFields(module: EntityModule): readonly string[] {
  return [...(module.historyOf ? ['id'] : alwaysFilterable), ...module.filter];
}

export function orderableFields(module: EntityModule): string[] {
  return [...new Set([...module.order, ...(module.historyOf ? [] : ['createdAt', 'updatedAt'])])];
}

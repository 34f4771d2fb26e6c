import { createHash } from 'node:crypto';
import { sql } from 'kysely';
import type { EntityModule } from '../model/define.ts';
import { AppError } from '../base/errors.ts';
import { isStorable } from '../model/input.ts';
import { parseInstant } from '../base/instant.ts';
import type { Bound } from './placeholder.ts';
import type { Sql } from '../storage/sql.ts';
import { column } from '../storage/column.ts';

/** One term of an order. */
export interface OrderTerm {
  readonly field: string;
  readonly direction: 'asc' | 'desc';
}

/** A term with what comparing by it needs to know. */
interface KnownTerm extends OrderTerm {
  readonly isOptional: boolean;
  /** SQL type that a value from a cursor is read as. */
  readonly columnType: string;
}

/** The order of a page with the id as its last term, in the direction of the term before it, so that one index serves. */
export function totalOrder(module: EntityModule, terms: readonly OrderTerm[]): readonly KnownTerm[] {
  const direction = terms.at(-1)?.direction ?? 'asc';
  const all = terms.some(({ field }) => field === 'id') ? terms : [...terms, { field: 'id', direction } as const];
  return all.map((term) => {
    const field = module.fields[term.field];
    const columnType = field?.columnType ?? (term.field === 'id' ? 'text' : 'timestamptz');
    return { ...term, isOptional: field?.optional ?? false, columnType };
  });
}

export function reversed(terms: readonly KnownTerm[]): readonly KnownTerm[] {
  return terms.map((term) => ({ ...term, direction: term.direction === 'asc' ? 'desc' : 'asc' }));
}

export function orderBy(alias: string, terms: readonly KnownTerm[]): Sql {
  return sql.join(terms.map(({ field, direction }) => sql`${column(alias, field)} ${sql.raw(direction)}`));
}

/** Values of the order's fields at one row; what a cursor carries. */
export type CursorValues = readonly (Bound<string | number | boolean> | null)[];

/** Rows after a cursor. PostgreSQL sorts empty values last ascending and first descending, and so do we. */
export function afterCursor(alias: string, terms: readonly KnownTerm[], values: CursorValues): Sql {
  const valueOf = (index: number) => sql`${values[index]}::${sql.raw(terms[index]?.columnType ?? 'text')}`;
  const isUniform = new Set(terms.map(({ direction }) => direction)).size === 1;
  if (isUniform && terms.every(({ isOptional }) => !isOptional)) {
    // A row comparison is one range of an index.
    const columns = sql.join(terms.map(({ field }) => column(alias, field)));
    const operator = sql.raw(terms[0]?.direction === 'desc' ? '<' : '>');
    return sql`(${columns}) ${operator} (${sql.join(terms.map((_term, index) => valueOf(index)))})`;
  }
  const alternatives = terms.map((term, index) => {
    const equal = terms
      .slice(0, index)
      .map(({ field }, before) => sql`${column(alias, field)} is not distinct from ${valueOf(before)}`);
    const after = afterValue(alias, term, values[index] === null, valueOf(index));
    return sql`(${sql.join([...equal, after], sql` and `)})`;
  });
  return sql`(${sql.join(alternatives, sql` or `)})`;
}

function afterValue(alias: string, { field, direction, isOptional }: KnownTerm, isEmpty: boolean, value: Sql): Sql {
  const left = column(alias, field);
  if (direction === 'desc') return isEmpty ? sql`${left} is not null` : sql`${left} < ${value}`;
  if (isEmpty) return sql`false`;
  return isOptional ? sql`(${left} > ${value} or ${left} is null)` : sql`${left} > ${value}`;
}

/** A cursor as SQL: base64url of the order's fingerprint and the row's values. */
export function cursorOf(alias: string, module: EntityModule, terms: readonly KnownTerm[]): Sql {
  const values = terms.map(({ field }) => column(alias, field));
  const json = sql`json_build_array(${sql.join([sql`${fingerprint(module, terms)}::text`, ...values])})::text`;
  return sql`translate(encode(convert_to(${json}, 'UTF8'), 'base64'), E'+/=\n', '-_')`;
}

/** @throws AppError invalid_cursor for anything that is not a cursor of this kind and order */
export function parseCursor(
  module: EntityModule,
  terms: readonly KnownTerm[],
  cursor: string,
  side: 'after' | 'before',
): CursorValues {
  const parts = cursor.length > maxCursorLength ? undefined : parsed(cursor);
  if (!Array.isArray(parts) || parts.length !== terms.length + 1 || parts[0] !== fingerprint(module, terms))
    throw foreign(side);
  const values = (parts as unknown[]).slice(1);
  const isSound = values.every((value, index) => fits(terms[index] as KnownTerm, value));
  if (!isSound) throw foreign(side);
  return values as CursorValues;
}

/** Longest cursor that is looked at. */
export const maxCursorLength = 8_000;

/** Most terms of an order; more would not make it finer. */
export const maxOrderTerms = 5;

/** Of PostgreSQL's type `integer`. */
const largestInteger = 2_147_483_647;

function parsed(cursor: string): unknown {
  try {
    return JSON.parse(Buffer.from(cursor, 'base64url').toString());
  } catch {
    return undefined;
  }
}

function fits({ isOptional, columnType }: KnownTerm, value: unknown): boolean {
  if (value === null) return isOptional;
  if (columnType === 'boolean') return typeof value === 'boolean';
  if (columnType === 'integer') return Number.isInteger(value) && Math.abs(value as number) <= largestInteger;
  if (columnType === 'bigint') return Number.isSafeInteger(value);
  if (typeof value !== 'string' || !isStorable(value)) return false;
  return columnType !== 'timestamptz' || parseInstant(value) !== undefined;
}

/** Kind and order a cursor belongs to. */
function fingerprint(module: EntityModule, terms: readonly OrderTerm[]): string {
  const order = terms.map(({ field, direction }) => `${field} ${direction}`).join();
  return createHash('sha256').update(`${module.kind}:${order}`).digest('base64url').slice(0, 8);
}

function foreign(side: string): AppError {
  return new AppError(
    'invalid_cursor',
    'This is not a cursor of this list in this order; use one that a page of it returned.',
    { details: { fields: [{ path: `/${side}`, message: 'is not a cursor of this list in this order' }] } },
  );
}

import { createHash } from 'node:crypto';
import { sql } from 'kysely';
import type { EntityModule } from '../model/define.ts';
import { AppError } from '../base/errors.ts';
import { isStorable } from '../model/input.ts';
import { isDay, parseInstant } from '../base/instant.ts';
import { parseStrictJson } from '../base/strict-json.ts';
import type { Bound } from './placeholder.ts';
import type { Sql } from '../storage/sql.ts';
import { column } from '../storage/column.ts';
import { orderedColumn } from '../storage/text-order.ts';

export interface OrderTerm {
  readonly field: string;
  readonly direction: 'asc' | 'desc';
}

/** A term with the properties of its field that comparisons need. */
interface KnownTerm extends OrderTerm {
  readonly isOptional: boolean;
  /** Where records without a value stand: last, and first when the list is read from its end. */
  readonly empty: 'first' | 'last';
  /** SQL type to which a value of a cursor is cast. */
  readonly columnType: string;
}

/** Place of a record among those that a search has found, the best first; the order of searches. */
export const searchPosition = 'searchPosition';

/** SQL types of what is no field of a kind and no instant. */
const derivedTypes: Readonly<Record<string, string>> = { id: 'text', [searchPosition]: 'integer' };

/** The order of a page with the id as its last term, in the direction of the term before it, so that one index serves both. */
export function totalOrder(module: EntityModule, terms: readonly OrderTerm[]): readonly KnownTerm[] {
  const direction = terms.at(-1)?.direction ?? 'asc';
  // A field that occurs again orders nothing, and would make cursors longer than those that are accepted.
  const once = terms.filter(({ field }, index) => terms.findIndex((term) => term.field === field) === index);
  const all = once.some(({ field }) => field === 'id') ? once : [...once, { field: 'id', direction } as const];
  return all.map((term) => {
    const field = module.fields[term.field];
    const columnType = field?.columnType ?? derivedTypes[term.field] ?? 'timestamptz';
    return { ...term, isOptional: field?.optional ?? false, empty: 'last', columnType };
  });
}

export function reversed(terms: readonly KnownTerm[]): readonly KnownTerm[] {
  return terms.map((term) => ({
    ...term,
    direction: term.direction === 'asc' ? 'desc' : 'asc',
    empty: term.empty === 'last' ? 'first' : 'last',
  }));
}

export function orderBy(module: EntityModule, alias: string, terms: readonly KnownTerm[]): Sql {
  return sql.join(
    terms.map(({ field, direction, isOptional, empty }) => {
      // Said of a column that always has a value, it would keep PostgreSQL from using the index of the other direction.
      const nulls = isOptional ? ` nulls ${empty}` : '';
      return sql`${orderedColumn(module, alias, field)} ${sql.raw(`${direction}${nulls}`)}`;
    }),
  );
}

/** Values of the order's fields in one row; the content of a cursor. */
export type CursorValues = readonly (Bound<string | number | boolean> | null)[];

export function afterCursor(
  module: EntityModule,
  alias: string,
  terms: readonly KnownTerm[],
  values: CursorValues,
): Sql {
  const valueOf = (index: number) => sql`${values[index]}::${sql.raw(terms[index]?.columnType ?? 'text')}`;
  const isUniform = new Set(terms.map(({ direction }) => direction)).size === 1;
  if (isUniform && terms.every(({ isOptional }) => !isOptional)) {
    // A row comparison is a single range scan of an index.
    const columns = sql.join(terms.map(({ field }) => orderedColumn(module, alias, field)));
    const operator = sql.raw(terms[0]?.direction === 'desc' ? '<' : '>');
    return sql`(${columns}) ${operator} (${sql.join(terms.map((_term, index) => valueOf(index)))})`;
  }
  const alternatives = terms.map((term, index) => {
    const equal = terms
      .slice(0, index)
      .map(({ field }, before) => sql`${column(alias, field)} is not distinct from ${valueOf(before)}`);
    const left = orderedColumn(module, alias, term.field);
    const after = afterValue(left, term, values[index] === null, valueOf(index));
    return sql`(${sql.join([...equal, after], sql` and `)})`;
  });
  return sql`(${sql.join(alternatives, sql` or `)})`;
}

function afterValue(left: Sql, { direction, isOptional, empty }: KnownTerm, isEmpty: boolean, value: Sql): Sql {
  if (isEmpty) return empty === 'first' ? sql`${left} is not null` : sql`false`;
  const isBeyond = sql`${left} ${sql.raw(direction === 'desc' ? '<' : '>')} ${value}`;
  return isOptional && empty === 'last' ? sql`(${isBeyond} or ${left} is null)` : isBeyond;
}

/** A cursor as SQL: base64url of the order's fingerprint and the row's values. */
export function cursorOf(alias: string, module: EntityModule, terms: readonly KnownTerm[]): Sql {
  const values = terms.map(({ field, columnType }) =>
    isExact(columnType) ? sql`${column(alias, field)}::text` : column(alias, field),
  );
  const json = sql`json_build_array(${sql.join([sql`${fingerprint(module, terms)}::text`, ...values])})::text`;
  return sql`translate(encode(convert_to(${json}, 'UTF8'), 'base64'), E'+/=\n', '-_')`;
}

/** @throws AppError invalid_cursor unless it is a cursor of this kind and order */
export function parseCursor(
  module: EntityModule,
  terms: readonly KnownTerm[],
  cursor: string,
  side: 'after' | 'before',
): CursorValues {
  const parts = cursor.length > maxCursorLength ? undefined : decodeCursor(cursor);
  if (!Array.isArray(parts) || parts.length !== terms.length + 1 || parts[0] !== fingerprint(module, terms))
    throw invalidCursor(side);
  const values = (parts as unknown[]).slice(1);
  const isValid = values.every((value, index) => isValueOf(terms[index] as KnownTerm, value));
  if (!isValid) throw invalidCursor(side);
  return values as CursorValues;
}

/** Maximum length of a cursor; longer ones are rejected without parsing. */
export const maxCursorLength = 8_000;

export const maxOrderTerms = 5;

/** The largest value of PostgreSQL's type `integer`. */
const maxInteger = 2_147_483_647;

function decodeCursor(cursor: string): unknown {
  try {
    return parseStrictJson(Buffer.from(cursor, 'base64url').toString());
  } catch {
    return undefined;
  }
}

function isValueOf({ isOptional, columnType }: KnownTerm, value: unknown): boolean {
  if (value === null) return isOptional;
  if (columnType === 'boolean') return typeof value === 'boolean';
  if (columnType === 'integer') return Number.isInteger(value) && Math.abs(value as number) <= maxInteger;
  if (columnType === 'bigint') return Number.isSafeInteger(value);
  if (typeof value !== 'string' || !isStorable(value)) return false;
  if (columnType === 'date') return isDay(value);
  if (isExact(columnType)) return /^\d{1,38}(\.\d{1,38})?$/.test(value);
  return columnType !== 'timestamptz' || parseInstant(value) !== undefined;
}

/** Whether a number of JSON would round values of a column. */
function isExact(columnType: string): boolean {
  return columnType.startsWith('numeric');
}

/** A hash of the kind and the order to which a cursor belongs. */
function fingerprint(module: EntityModule, terms: readonly OrderTerm[]): string {
  const order = terms.map(({ field, direction }) => `${field} ${direction}`).join();
  return createHash('sha256').update(`${module.kind}:${order}`).digest('base64url').slice(0, 8);
}

function invalidCursor(side: string): AppError {
  return new AppError(
    'invalid_cursor',
    'This is not a cursor of this list in this order; use one that a page of it returned.',
    { details: { fields: [{ path: `/${side}`, message: 'is not a cursor of this list in this order' }] } },
  );
}

import { isDocument } from './scim-documents.ts';
import type { ScimFilter } from './scim-filter.ts';

/** Whether a filter finds a resource, or a value of an attribute (RFC 7644, section 3.4.2.2). */
export function matches(filter: ScimFilter, document: unknown): boolean {
  if ('filters' in filter) {
    const isFound = (one: ScimFilter) => matches(one, document);
    return filter.op === 'and' ? filter.filters.every(isFound) : filter.filters.some(isFound);
  }
  if (filter.op === 'not') return !matches(filter.filter, document);
  const values = valuesAt(document, filter.path);
  if (filter.op === '[]') return values.some((one) => matches(filter.filter, one));
  if (filter.op === 'pr') return values.some((one) => !isDocument(one) || Object.keys(one).length > 0);
  const { op, value, isExact } = filter;
  // null stands for an attribute without a value.
  if (value === null) return op === 'eq' ? values.length === 0 : op === 'ne' && values.length > 0;
  const form = (one: unknown) => (isExact ? String(one) : String(one).toLowerCase());
  if (op === 'ne') return values.length === 0 || values.some((one) => form(one) !== form(value));
  return values.some((one) => comparisons[op](...inOneForm(form(one), form(value))));
}

const comparisons: Readonly<
  Record<'eq' | 'co' | 'sw' | 'ew' | 'gt' | 'lt' | 'ge' | 'le', (one: string, other: string) => boolean>
> = {
  eq: (one, other) => one === other,
  co: (one, other) => one.includes(other),
  sw: (one, other) => one.startsWith(other),
  ew: (one, other) => one.endsWith(other),
  gt: (one, other) => one > other,
  lt: (one, other) => one < other,
  ge: (one, other) => one >= other,
  le: (one, other) => one <= other,
};

const instant = /^\d{4}-\d\d-\d\dt[\d:.]+(?:z|[+-]\d\d:\d\d)$/i;

/** Instants are compared as such, in whatever zone they are written. */
function inOneForm(one: string, other: string): [string, string] {
  if (!instant.test(one) || !instant.test(other)) return [one, other];
  const [first, second] = [new Date(one.toUpperCase()), new Date(other.toUpperCase())];
  if (Number.isNaN(first.getTime()) || Number.isNaN(second.getTime())) return [one, other];
  return [first.toISOString(), second.toISOString()];
}

/** The values at a path, of all values of an attribute that has many. */
function valuesAt(value: unknown, path: readonly string[]): unknown[] {
  if (Array.isArray(value)) return value.flatMap((one) => valuesAt(one, path));
  if (value === undefined || value === null) return [];
  const [name, ...rest] = path;
  if (name === undefined) return [value];
  return isDocument(value) ? valuesAt(value[name], rest) : [];
}

/** Whether a filter asks for an attribute, or a part of it. */
export function asksFor(filter: ScimFilter, attribute: string): boolean {
  if ('filters' in filter) return filter.filters.some((one) => asksFor(one, attribute));
  return 'path' in filter ? filter.path[0] === attribute : asksFor(filter.filter, attribute);
}

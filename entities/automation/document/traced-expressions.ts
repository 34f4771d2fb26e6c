import { shortened } from '../../kit/base/shortened.ts';
import type { ExpressionResult } from './expressions.ts';

/** Values of the parts of an expression (`workflows.cel.trackstate`), as the journal of a workflow keeps them. */
export interface TracedExpression {
  readonly expression: string;
  /** Their places in the expression, and their values as JSON has them. */
  readonly parts: readonly { readonly start: number; readonly end: number; readonly value: unknown }[];
}

/** Most bytes of the details of an entry with values of parts. */
const maxBytes = 16_000;

/** Characters of an expression that are repeated beside its parts. */
const maxExpression = 1_000;

/** The expressions whose parts were kept; none while `workflows.cel.trackstate` is off. */
export function tracedExpressions(
  items: readonly { readonly expression: string }[],
  results: readonly ExpressionResult[],
): TracedExpression[] {
  return items.flatMap(({ expression }, n) => {
    const parts = results[n]?.parts ?? [];
    if (parts.length === 0) return [];
    const shown = parts.map(({ start, end, value }) => ({ start, end, value: asJson(value) }));
    return [{ expression: shortened(expression, maxExpression), parts: shown }];
  });
}

/** Facts of an entry of the journal with the values of parts, as many as there is room for. */
export function withTraced<Details extends object | null>(details: Details, traced: readonly TracedExpression[]) {
  const sizeOf = (value: unknown) => Buffer.byteLength(JSON.stringify(value)) + 1;
  let room = maxBytes - sizeOf(details ?? {}) - sizeOf({ expressions: [] });
  const expressions: TracedExpression[] = [];
  for (const { expression, parts } of traced) {
    room -= sizeOf({ expression, parts: [] });
    const kept = parts.filter((part) => {
      const size = sizeOf(part);
      if (size > room) return false;
      room -= size;
      return true;
    });
    if (kept.length > 0) expressions.push({ expression, parts: kept });
  }
  return expressions.length === 0 ? details : { ...details, expressions };
}

/** A value in a form that every JSON document can have: texts without characters that PostgreSQL lacks, large integers as texts. */
function asJson(value: unknown): unknown {
  if (typeof value === 'bigint') return Number.isSafeInteger(Number(value)) ? Number(value) : String(value);
  if (typeof value === 'number') return isInJson(value) ? value : String(value);
  if (typeof value === 'string') return asText(value);
  if (value instanceof Date) return value.toISOString();
  if (value instanceof Uint8Array) return Buffer.from(value).toString('base64');
  if (Array.isArray(value)) return value.map(asJson);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [asText(key), asJson(item)]));
}

/** Whether a number is the same in JSON: it is finite, and no whole number that JavaScript would round. */
function isInJson(value: number): boolean {
  return Number.isSafeInteger(value) || (Number.isFinite(value) && !Number.isInteger(value));
}

function asText(text: string): string {
  return text.toWellFormed().replaceAll('\u0000', '\uFFFD');
}

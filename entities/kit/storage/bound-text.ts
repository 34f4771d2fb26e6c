import type { Statement } from './sql.ts';

/** A statement whose values are as they are sent: in the text format of PostgreSQL, bytes as they are. */
export interface BoundStatement {
  readonly text: string;
  readonly values: readonly (string | Buffer | null)[];
}

/** @throws TypeError for lists of lists, and for bytes that are no Buffer; RangeError for a date that is none */
export function bind({ text, values }: Statement): BoundStatement {
  return { text, values: values.map(boundText) };
}

function boundText(value: unknown): string | Buffer | null {
  if (value === null || value === undefined) return null;
  if (typeof value === 'string' || Buffer.isBuffer(value)) return value;
  if (value instanceof Date) return value.toISOString();
  if (ArrayBuffer.isView(value)) throw new TypeError('bytes are bound as a Buffer');
  if (Array.isArray(value)) return arrayLiteral(value);
  return typeof value === 'number' || typeof value === 'bigint' ? String(value) : JSON.stringify(value);
}

/** A list as PostgreSQL reads it: every item is in quotes, so that none is read as NULL or loses white space. */
export function arrayLiteral(values: readonly unknown[]): string {
  return `{${values.map(arrayElement).join()}}`;
}

/** An element of an array literal, with quotes and backslashes escaped. */
function arrayElement(value: unknown): string {
  if (Array.isArray(value)) throw new TypeError('lists of lists are bound as JSON');
  const text = boundText(value);
  if (Buffer.isBuffer(text)) return `"\\\\x${text.toString('hex')}"`;
  return text === null ? 'NULL' : `"${text.replaceAll(/["\\]/g, '\\$&')}"`;
}

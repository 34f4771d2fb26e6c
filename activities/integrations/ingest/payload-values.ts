/**
 * A value of a provider for expressions: whole numbers are integers, so that ids do not print as 1.2e+18. Numbers beyond 2^53 have lost digits
 * when JSON was parsed; adapters read such ids from the text.
 */
export function readableValue(value: unknown): unknown {
  if (typeof value === 'number') return Number.isSafeInteger(value) ? BigInt(value) : value;
  if (Array.isArray(value)) return value.map(readableValue);
  if (typeof value !== 'object' || value === null || value instanceof Date || value instanceof Uint8Array) return value;
  return Object.fromEntries(Object.entries(value).map(([name, inner]) => [name, readableValue(inner)]));
}

/** The result of an expression as JSON: integers beyond 2^53 become texts. */
export function writtenValue(value: unknown): unknown {
  if (typeof value === 'bigint') {
    const number = Number(value);
    return Number.isSafeInteger(number) ? number : String(value);
  }
  if (value instanceof Date) return value.toISOString();
  if (value instanceof Uint8Array) return Buffer.from(value).toString('base64');
  if (Array.isArray(value)) return value.map(writtenValue);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, inner]) => [name, writtenValue(inner)]));
}

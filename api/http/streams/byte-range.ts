/** First and last byte, both included. */
export interface ByteRange {
  readonly first: number;
  readonly last: number;
}

const oneRange = /^bytes=[ \t]*(\d*)-(\d*)[ \t]*$/i;

/**
 * The range of bytes that a request asks for (RFC 9110, section 14.2).
 * @param header Range
 * @returns undefined for the whole content: also for several ranges, and for a header that cannot be read, as the RFC allows;
 * `unsatisfiable` for a range that begins after the end
 */
export function requestedRange(header: string | undefined, sizeBytes: number): ByteRange | 'unsatisfiable' | undefined {
  const [, first, last] = oneRange.exec(header ?? '') ?? [];
  if (first === undefined || last === undefined || (first === '' && last === '')) return undefined;
  const end = sizeBytes - 1;
  // The last bytes: as many as there are.
  const range =
    first === ''
      ? { first: Math.max(0, sizeBytes - Number(last)), last: end }
      : { first: Number(first), last: last === '' ? end : Math.min(Number(last), end) };
  if (first !== '' && last !== '' && Number(last) < Number(first)) return undefined;
  return range.first > range.last ? 'unsatisfiable' : range;
}

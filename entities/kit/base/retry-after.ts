/** Longest pause that the header of an answer asks for, in milliseconds. Callers that wait for less take less of it. */
const maxMs = 24 * 3_600_000;

/** The forms of dates in HTTP (RFC 9110, section 5.6.7): all have the name of a day, and a time. */
const httpDate = /^[A-Z][a-z]{2,8},? .*\d\d:\d\d:\d\d/;

/**
 * The pause that a header Retry-After asks for (RFC 9110, section 10.2.3): a number of seconds, or a date.
 * @returns milliseconds, a day at most; undefined for what is neither
 */
export function retryAfterMs(header: string | null | undefined, now: Date): number | undefined {
  const text = header?.trim() ?? '';
  const isDate = httpDate.test(text);
  if (!isDate && !/^\d+$/.test(text)) return undefined;
  const ms = isDate ? Date.parse(text) - now.getTime() : Number(text) * 1_000;
  return Number.isNaN(ms) ? undefined : Math.min(Math.max(0, ms), maxMs);
}

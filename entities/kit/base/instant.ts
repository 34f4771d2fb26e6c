import { IsDate, IsDateTime } from 'typebox/format';

/**
 * Parses an RFC 3339 timestamp. @returns undefined for any other text, for dates and times that do not exist, and for instants
 * whose year in UTC is outside 1 to 9999
 */
export function parseInstant(text: string): Date | undefined {
  if (!IsDateTime(text)) return undefined;
  const instant = new Date(text);
  // RFC 3339 allows leap seconds; JavaScript parses them as an invalid date.
  return isInstant(instant) ? instant : undefined;
}

/** Parses a day such as `2027-01-31`, which begins in UTC, or an RFC 3339 timestamp. @returns undefined for any other text */
export function parseDayOrInstant(text: string): Date | undefined {
  return parseInstant(isDay(text) ? `${text}T00:00:00Z` : text);
}

/** Whether an instant can be stored and printed in RFC 3339: its year in UTC is from 1 to 9999. */
export function isInstant(instant: Date): boolean {
  const year = instant.getUTCFullYear();
  return year >= 1 && year <= 9999;
}

/** The day with which a text begins, as `2026-02-30`, if the calendar does not have it. */
export function missingDay(text: string): string | undefined {
  const [day] = /^\d{4}-\d{2}-\d{2}(?!\d)/.exec(text) ?? [];
  return day === undefined || isDay(day) ? undefined : day;
}

/** Whether a text is a day that exists, as `2026-01-31`, in a year that can be stored. */
export function isDay(text: string): boolean {
  return IsDate(text) && !text.startsWith('0000');
}

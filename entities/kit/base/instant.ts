import { IsDateTime } from 'typebox/format';

/**
 * The instant a text names in RFC 3339; undefined for any other text, for days and hours that do not exist, and for years that
 * the calendar of that format does not have once they are those of Greenwich.
 */
export function parseInstant(text: string): Date | undefined {
  if (!IsDateTime(text)) return undefined;
  const instant = new Date(text);
  // A leap second is allowed there, and unknown to JavaScript.
  return isInstant(instant) ? instant : undefined;
}

/** Whether it can be stored and told again: of a year from 1 to 9999. */
export function isInstant(instant: Date): boolean {
  const year = instant.getUTCFullYear();
  return year >= 1 && year <= 9999;
}

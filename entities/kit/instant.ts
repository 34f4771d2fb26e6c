import { IsDateTime } from 'typebox/format';

/** The instant a text names in RFC 3339; undefined for any other text, and for days and hours that do not exist. */
export function parseInstant(text: string): Date | undefined {
  if (!IsDateTime(text)) return undefined;
  const instant = new Date(text);
  // A leap second is allowed there, and unknown to JavaScript.
  return Number.isNaN(instant.getTime()) ? undefined : instant;
}

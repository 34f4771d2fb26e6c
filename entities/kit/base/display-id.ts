import { hash } from 'node:crypto';

const letters = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567';

/** Characters after the prefix: 40 bits, so that less than one collision is expected among a million records of one kind. */
const length = 8;

/** The display id of a record: its prefix, and base 32 (RFC 4648) of a hash of its id. */
export function displayIdOf(prefix: string, id: string): string {
  const digest = hash('sha256', id, 'buffer');
  let text = '';
  for (const byte of digest.subarray(0, length)) text += letters[byte & 31];
  return `${prefix}-${text}`;
}

const displayIdPattern = new RegExp(`^[A-Z]{2,5}-[${letters}]{${length}}$`, 'i');

/**
 * For a message about a text that is no id: how to find the id, if the text is a display id; else empty.
 * @param prefixes those of the kinds whose ids are expected; without them, of all kinds
 */
export function displayIdHint(text: string, prefixes?: readonly string[]): string {
  if (!displayIdPattern.test(text)) return '';
  const [prefix = ''] = text.toUpperCase().split('-');
  if (prefixes && !prefixes.includes(prefix)) return '';
  // The names are in quotes, so that no API replaces one by the other.
  return ` This is a display id, and an id is expected: the filter "display_id" of the list (in GraphQL "displayId") finds the record with its id.`;
}

import { sql } from 'kysely';
import type { Sql } from './sql.ts';

/**
 * The form in which texts are compared with a part of them, and searched: without case, accents, and characters that are not seen. It is
 * the function `matched_form` of the database, which filters and indexes use alike.
 */
export function matchedForm(text: Sql): Sql {
  return sql`matched_form(${text})`;
}

/** Number of characters at the beginning of a matched form that an index holds: entries of a B-tree have at most 2,704 bytes. */
export const indexedBeginning = 100;

/**
 * Characters that `matched_form` leaves out: combining marks of Latin, Greek, Cyrillic, Hebrew and Arabic, and characters that are not
 * seen.
 */
const ignored = String.raw`\u00ad\u0300-\u036f\u0483-\u0487\u0591-\u05bd\u05bf\u05c1\u05c2\u05c4\u05c5\u05c7\u0610-\u061a\u0640\u064b-\u065f\u0670\u1ab0-\u1aff\u1dc0-\u1dff\u200b-\u200f\u2060\u20d0-\u20ff\ufe00-\ufe0f\ufe20-\ufe2f\ufeff`;
const everyIgnored = new RegExp(`[${ignored}]`, 'gu');

/** Pattern of a text that has a matched form, as far as patterns can express it. */
export const matchedText = String.raw`^[^\u0000]*[^\u0000${ignored}][^\u0000]*$`;

/** Whether a text has no matched form, so that every text would contain it. */
export function hasNoMatchedForm(text: string): boolean {
  return text.normalize('NFKD').replaceAll(everyIgnored, '') === '';
}

import { idPattern } from '../base/ids.ts';

export const maxMentions = 100;

/** Note in the documentation of a field that can mention people. */
export const mentionNote =
  'Mentions people as `@[Name](user:<id>)`; who is newly mentioned and may view the record is notified.';

const id = idPattern.source.slice(1, -1);
const markup = new RegExp(`@\\[([^\\]\\n]{1,200})\\]\\(user:(${id})\\)`, 'g');

/** Ids of the people whom a text mentions. A malformed mention is text like any other. */
export function mentionedIn(text: unknown): ReadonlySet<string> {
  if (typeof text !== 'string') return new Set();
  return new Set([...text.matchAll(markup)].map(([, , userId]) => userId as string));
}

/** The text as people read it: mentions are names. @param names of people by id; otherwise the name that the text gives them */
export function withoutMarkup(text: string, names: ReadonlyMap<string, string>): string {
  return text.replaceAll(markup, (_found, written: string, userId: string) => `@${names.get(userId) ?? written}`);
}

import { displayIdHint } from './display-id.ts';
import { isId } from './ids.ts';

const emailPattern = /^[^\s@]+@[^\s@]+$/;

/**
 * For a message about a text that is no id: how to find the id that is meant; empty for texts that say nothing about it.
 * @param prefixes of the display ids of the kinds whose ids are expected; without them, of all kinds
 */
export function idHint(text: string, prefixes?: readonly string[]): string {
  if (isId(text.toUpperCase())) return ' The letters of ids are capital letters.';
  if (emailPattern.test(text))
    return ' This is an e-mail address, and an id is expected: the filter "email" of the list of users finds the person with the id.';
  if (/^(me|self)$/i.test(text))
    return ' Your own id is "sub" of GET /v1/account/userinfo, in GraphQL { self { id } }.';
  return displayIdHint(text, prefixes);
}

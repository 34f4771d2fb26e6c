import { maxFound } from '../base/max-found.ts';
import { inputError } from '../base/input-error.ts';
import { isStorable } from '../model/input.ts';

export const maxSearchLength = 200;

/** Which records a search looks at. Which of them the caller may view is decided afterwards (search-function.ts). */
export const searchReach = `A search considers at most ${maxFound} records of the organization that have the words and ${maxFound} that contain the text, including records that the caller may not view. If more match, search for rarer words, or filter a list with \`contains\`, which considers all records.`;

export const searchTextDescription = `Search text of at most ${maxSearchLength} characters: words in any form, of which the last may be incomplete; part of a searched field, of three characters at least; whole words of one or two characters; one or two Han, Kana or Hangul characters; or an id or a display id. Case and accents do not matter. If nothing has these words, records with similar words are found.`;

/**
 * The text of a search without white space around it: a pasted id has some.
 * @param path of the text in the request
 * @throws AppError invalid_input
 */
export function wantedText(text: string, path: string): string {
  const problem = searchTextProblem(text);
  if (problem !== undefined) throw inputError([{ path, message: problem }]);
  return text.trim();
}

/** Problem of the text of a search, as the end of a sentence about it; undefined for one that can be looked for. */
function searchTextProblem(text: string): string | undefined {
  if (text.length > maxSearchLength) return `must have at most ${maxSearchLength} characters; it has ${text.length}`;
  if (text.trim() === '') return 'must have a character besides white space';
  return isStorable(text) ? undefined : 'contains characters that no record can contain';
}

import { snakeCase } from '../base/snake-case.ts';

/** SQL of the text in which records of a kind are searched: the searched fields, concatenated. */
export function searchedText(fields: readonly string[]): string {
  return `(${fields.map((name) => `coalesce(${snakeCase(name)}, '')`).join(` || ' ' || `)})`;
}

/** SQL of the words of that text, in their ground forms. */
export function searchedWords(fields: readonly string[]): string {
  return `to_tsvector('english', ${searchedText(fields)})`;
}

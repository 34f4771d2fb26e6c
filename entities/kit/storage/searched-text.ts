import { snakeCase } from '../base/snake-case.ts';

/** SQL of the text in which records of a kind are searched: the searched fields, concatenated, in their matched form. */
export function searchedText(fields: readonly string[]): string {
  return `matched_form(${fields.map((name) => `coalesce(${snakeCase(name)}, '')`).join(` || ' ' || `)})`;
}

/** SQL of the words of that text, in their ground forms, with its short words and its pairs of Han, Kana and Hangul characters. */
export function searchedWords(fields: readonly string[]): string {
  return `search_words(${searchedText(fields)})`;
}

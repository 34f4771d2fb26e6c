import { snakeCase } from '../base/snake-case.ts';

/** SQL of the text that the trigram index covers: the searched fields, concatenated. */
export function searchedText(fields: readonly string[]): string {
  return `(${fields.map((name) => `coalesce(${snakeCase(name)}, '')`).join(` || ' ' || `)})`;
}

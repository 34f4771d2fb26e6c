import { snakeCase } from '../base/snake-case.ts';

/** SQL of the text by whose trigrams records are found: their search fields behind each other. */
export function searchedText(fields: readonly string[]): string {
  return `(${fields.map((name) => `coalesce(${snakeCase(name)}, '')`).join(` || ' ' || `)})`;
}

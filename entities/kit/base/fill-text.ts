import { didYouMean } from './did-you-mean.ts';
import { snakeCase } from './snake-case.ts';

/** A variable in a text: its name in double braces. */
const variable = /\{\{([^{}]*)\}\}/g;

/** Puts values into a text. The content of a value is never read as a variable. */
export function fillText(text: string, values: Readonly<Record<string, string>>): string {
  return text.replaceAll(variable, (_found, between: string) => {
    const name = namedBy(between, Object.keys(values));
    return name === undefined ? '' : (values[name] ?? '');
  });
}

/** Problem of the variables of a text, as the end of a sentence about it. @param known the names that it can have */
export function variableProblem(text: string, known: readonly string[]): string | undefined {
  const there = `variables are ${known.map((name) => `{{${name}}}`).join(', ')}`;
  for (const [, between = ''] of text.matchAll(variable)) {
    if (namedBy(between, known) !== undefined) continue;
    const name = between.trim();
    const near = didYouMean(name, known);
    const hint = near === undefined ? '' : ` (did you mean "{{${near}}}"?)`;
    return `has the unknown variable "{{${name.slice(0, 50)}}}"${hint}; ${there}`;
  }
  if (/\{\{|\}\}/.test(text.replaceAll(variable, '')))
    return `has double braces that are not around the name of a variable; ${there}`;
  return undefined;
}

/** The variable that a text names: as GraphQL writes names (`displayId`), or as REST does (`display_id`). */
function namedBy(between: string, known: readonly string[]): string | undefined {
  const written = between.trim();
  return known.find((name) => name === written || snakeCase(name) === written);
}

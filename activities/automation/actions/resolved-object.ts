import { isExpression, type Value } from '#entities/automation/document/definition-document.ts';
import type { ActionRun } from '../action-run.ts';
import { plain } from './field-value.ts';

/** An object of a document as JSON: each of its values, or all of it, can be an expression. */
export async function resolvedObject(
  run: ActionRun,
  given: Value<Readonly<Record<string, Value>>> = {},
): Promise<unknown> {
  if (isExpression(given)) return plain((await run.resolve([{ value: given }]))[0]);
  const names = Object.keys(given);
  const values = await run.resolve(names.map((name) => ({ value: given[name] })));
  return Object.fromEntries(names.map((name, n) => [name, plain(values[n])]));
}

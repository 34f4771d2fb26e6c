import { didYouMean } from '../../kit/base/did-you-mean.ts';
import { schemaMessage, type SchemaProblem } from '../../kit/base/schema-problem.ts';
import { shortened } from '../../kit/base/shortened.ts';
import type { DocumentPart } from './document-schema.ts';
import { pointerPart, type DefinitionProblems } from './definition-problem.ts';

type Keys = Readonly<Record<string, unknown>>;

/**
 * Checks the form of a part of a document.
 * @returns the part, without the keys whose values are wrong; undefined for what is no object
 */
export function checkPart(
  { validator, keys, codes }: DocumentPart,
  value: unknown,
  path: string,
  problems: DefinitionProblems,
): Keys | undefined {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    problems.add(path, 'invalid_value', schemaMessage(notAnObject(path), { value }));
    return undefined;
  }
  const part = value as Keys;
  const wrong = new Set<string>();
  if (validator.Check(value)) return part;
  for (const problem of validator.Errors(value)[1] as SchemaProblem[]) {
    const { keyword, instancePath, params } = problem;
    if (keyword === 'required')
      for (const key of (params as { requiredProperties: string[] }).requiredProperties)
        problems.add(`${path}/${pointerPart(key)}`, codes[key]?.missing ?? 'missing_key', 'is required');
    else if (keyword === 'additionalProperties')
      for (const key of (params as { additionalProperties: string[] }).additionalProperties) {
        wrong.add(key);
        problems.add(`${path}/${pointerPart(key)}`, codes[key]?.wrong ?? 'unknown_key', unknownKey(key, keys));
      }
    else if (keyword !== 'boolean') {
      const [, key = ''] = instancePath.split('/');
      wrong.add(key);
      const message = durationHint(key) ?? schemaMessage(problem, { value: valueAt(value, instancePath) });
      problems.add(`${path}${instancePath}`, codes[key]?.wrong ?? 'invalid_value', message);
    }
  }
  return Object.fromEntries(Object.entries(part).filter(([key]) => !wrong.has(key)));
}

function notAnObject(instancePath: string): SchemaProblem {
  return { keyword: 'type', instancePath, params: { type: 'object' } };
}

function unknownKey(key: string, keys: readonly string[]): string {
  const near = didYouMean(key, keys);
  const remedy = near === undefined ? `keys here are ${keys.join(', ')}` : `did you mean "${near}"?`;
  return `is not a key of this part ("${shortened(key)}"): ${remedy}`;
}

function durationHint(key: string): string | undefined {
  return key === 'remind_after' || key === 'due_in'
    ? 'must be a whole number with a unit of time: "5d", "12h", "30m" or "90s"'
    : undefined;
}

function valueAt(value: unknown, pointer: string): unknown {
  return pointer
    .split('/')
    .slice(1)
    .reduce<unknown>((within, name) => (within as Keys | undefined)?.[name], value);
}

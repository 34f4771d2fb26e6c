import { Check } from 'typebox/schema';
import type { Field, Fields } from '../declared-field.ts';

/** Mistakes in the fields of a definition, one sentence each; empty for a correct one. @param verbs of its custom events */
export function fieldMistakes(fields: Fields, verbs: readonly string[]): string[] {
  return [
    ...Object.entries(fields).flatMap(([name, field]) => [...mistakesOf(name, field), ...wrongUses(name, field)]),
    ...Object.entries(fields)
      .flatMap(([name, { announces, announcesLeaving, hasMentions }]) => [
        [name, announces ?? announcesLeaving],
        [name, hasMentions && 'mentioned'],
      ])
      .filter(([, verb]) => verb !== undefined && !verbs.includes(verb))
      .map(([name, verb]) => `field "${name}" records the event "${verb}", which customEvents does not declare`),
  ];
}

/** The functions that make fields offer none of these uses; a field can be put together without them. */
function wrongUses(name: string, { type, exposed, lists = [], secret, isSealed, changedElsewhere }: Field): string[] {
  const [isFilter, isOrder, isSearched] = (['filter', 'order', 'search'] as const).map((use) => lists.includes(use));
  const isReadable = exposed === 'read' || exposed === 'read-write';
  const problems: [isWrong: boolean | undefined, problem: string][] = [
    [isFilter && type === 'json', 'is a JSON document and cannot be a filter'],
    [isFilter && type === 'file', 'is a file and cannot be a filter'],
    [isOrder && ['textList', 'json', 'file'].includes(type), 'holds more than one value and cannot be an order'],
    [isSearched && type !== 'text', 'is not a text field, and only text fields can be searched'],
    [isSearched && !isReadable, 'is not exposed for reading, and a search would reveal its value'],
    [isSealed && isReadable, 'is a sealed field, which callers write and nobody reads'],
    [secret && !isSealed && exposed !== undefined, 'is a secret field and cannot be exposed'],
    [changedElsewhere !== undefined && exposed !== 'read', 'has changedElsewhere and must be exposed as read'],
  ];
  return problems.flatMap(([isWrong, problem]) => (isWrong ? [`"${name}" ${problem}`] : []));
}

function mistakesOf(name: string, field: Field): string[] {
  const malformed = (field.values ?? []).filter((value) => !/^[a-z][a-z0-9_]*$/.test(value));
  const given = field.default instanceof Date ? field.default.toISOString() : field.default;
  const isWrong = given !== undefined && !isValid(field, given);
  return [
    ...malformed.map(
      (value) => `field "${name}" has the choice ${JSON.stringify(value)}, which is not a lower-case word`,
    ),
    ...(isWrong ? [`field "${name}" has a default that is not valid: ${JSON.stringify(given)}`] : []),
  ];
}

/** Most defaults are flags and choices, which need no schema. */
function isValid({ type, values, schema }: Field, value: unknown): boolean {
  if (type === 'boolean') return typeof value === 'boolean';
  return values ? values.some((choice) => choice === value) : Check(schema, value);
}

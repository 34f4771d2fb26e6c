import { Check } from 'typebox/schema';
import type { Field, Fields } from '../declared-field.ts';

/** The fields of a definition, and the lists that name them. */
interface FieldUse {
  readonly fields: Fields;
  readonly filter: readonly string[];
  readonly order: readonly string[];
  readonly search?: readonly string[];
  readonly expose: Readonly<Record<string, string | undefined>>;
  readonly customEvents?: Readonly<Record<string, unknown>>;
}

/** Mistakes in the fields of a definition and in the lists that name them, one sentence each; empty for a correct definition. */
export function fieldMistakes(definition: FieldUse): string[] {
  const { fields, filter, order, search = [], expose, customEvents = {} } = definition;
  const typeOf = (name: string): string => fields[name]?.type ?? '';
  return [
    ...Object.entries(fields).flatMap(([name, field]) => mistakesOf(name, field)),
    ...filter
      .filter((name) => ['json', 'file'].includes(typeOf(name)))
      .map((name) => `"${name}" is a ${typeOf(name) === 'json' ? 'JSON document' : 'file'} and cannot be a filter`),
    ...order
      .filter((name) => ['textList', 'json', 'file'].includes(typeOf(name)))
      .map((name) => `"${name}" holds more than one value and cannot be an order`),
    ...Object.entries(fields)
      .flatMap(([name, { announces, announcesLeaving, hasMentions }]) => [
        [name, announces ?? announcesLeaving],
        [name, hasMentions && 'mentioned'],
      ])
      .filter(([, verb]) => verb !== undefined && !Object.hasOwn(customEvents, verb))
      .map(([name, verb]) => `field "${name}" records the event "${verb}", which customEvents does not declare`),
    ...Object.keys(expose)
      .filter((name) => fields[name]?.isSealed && expose[name] !== 'write')
      .map((name) => `"${name}" is a sealed field, which callers write and nobody reads`),
    ...search
      .filter((name) => fields[name] && typeOf(name) !== 'text')
      .map((name) => `"${name}" is not a text field, and only text fields can be searched`),
    ...search
      .filter((name) => expose[name] === undefined || expose[name] === 'write')
      .map((name) => `"${name}" is not exposed for reading, and a search would reveal its value`),
  ];
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

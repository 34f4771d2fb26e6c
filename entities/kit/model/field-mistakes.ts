import { Check } from 'typebox/value';
import type { Field, Fields } from './fields.ts';

/** The fields of a definition, and the lists that name them. */
interface FieldUse {
  readonly fields: Fields;
  readonly filter: readonly string[];
  readonly order: readonly string[];
  readonly search?: readonly string[];
}

/** What a definition says of its fields and they cannot be, one sentence each; empty when nothing is wrong. */
export function fieldMistakes(definition: FieldUse): string[] {
  const { fields, filter, order, search = [] } = definition;
  const typeOf = (name: string): string => fields[name]?.type ?? '';
  return [
    ...Object.entries(fields).flatMap(([name, field]) => mistakesOf(name, field)),
    ...filter
      .filter((name) => typeOf(name) === 'json')
      .map((name) => `"${name}" is a document, by which nothing is filtered`),
    ...order
      .filter((name) => ['textList', 'json'].includes(typeOf(name)))
      .map((name) => `"${name}" holds more than one value, by which nothing is ordered`),
    ...search
      .filter((name) => fields[name] && typeOf(name) !== 'text')
      .map((name) => `"${name}" is no text, and only texts are searched`),
  ];
}

function mistakesOf(name: string, field: Field): string[] {
  const strange = (field.values ?? []).filter((value) => !/^[a-z][a-z0-9_]*$/.test(value));
  const given = field.default instanceof Date ? field.default.toISOString() : field.default;
  const isWrong = given !== undefined && !Check(field.schema, given);
  return [
    ...strange.map((value) => `field "${name}" offers ${JSON.stringify(value)}, which is no lower-case word`),
    ...(isWrong ? [`field "${name}" would not take its own default, ${JSON.stringify(given)}`] : []),
  ];
}

import { Check } from 'typebox/value';
import type { EntityDefinition, Tenancy } from './define.ts';
import type { Field, Fields } from './fields.ts';

/** What a definition says of its fields and they cannot be, in words; empty when all is well. */
export function fieldMistakes(definition: EntityDefinition<Fields, Tenancy, string>): string[] {
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

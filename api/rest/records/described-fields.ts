import { onceForEach } from '#entities/kit/base/once-for-each.ts';
import { snakeCase } from '#entities/kit/base/snake-case.ts';
import { tenancyField, type EntityModule } from '#entities/kit/model/define.ts';
import { answeredFields, changeableFields, isRequired, writableFields } from '#entities/kit/model/exposure.ts';
import { filteredType, operatorsOf } from '#entities/kit/read/operators.ts';
import { filterableFields, orderableFields } from '#entities/kit/read/where.ts';
import { describedAnswer } from '../../http/description/described-input.ts';
import type { Schema } from '../../http/description/openapi-document.ts';
import { inRestNames, valueSchema } from '../../http/value-schema.ts';
import { recordSchema } from './record-schema.ts';

/** The fields that callers read or write, as `GET /v1/kinds` describes them. */
export const describedFields = onceForEach((module: EntityModule) => {
  const names = new Set([...answeredFields(module), ...Object.keys(module.expose)]);
  const [filtered, ordered] = [new Set(filterableFields(module)), new Set(orderableFields(module))];
  const [settable, changeable] = [writableFields, changeableFields].map(
    (fieldsOf) => new Set(fieldsOf(module).map(([name]) => name)),
  );
  return [...names].map((name) => {
    const field = module.fields[name];
    return {
      name: snakeCase(name),
      ...(field
        ? {
            type: snakeCase(field.type),
            description: inRestNames(field.description),
            schema: describedAnswer(valueSchema(field)),
          }
        : addedField(module, name)),
      references: targetsOf(module, name),
      exposure: module.expose[name] ?? ('read' as const),
      required: field !== undefined && settable?.has(name) === true && isRequired(field),
      can_be_null: field?.optional ?? false,
      changeable: changeable?.has(name) ?? false,
      filters: filtered.has(name) ? operatorsOf(module, name).map((operator) => snakeCase(operator.name)) : [],
      order: ordered.has(name),
      search: module.search?.includes(name) ?? false,
    };
  });
});

/** A field that records have besides those that their kind declares. */
function addedField(module: EntityModule, name: string) {
  const { description = addedDescriptions[name] ?? '', ...schema } = recordSchema(module).properties[
    snakeCase(name)
  ] as Schema;
  return { type: name === 'recordVersion' ? 'integer' : filteredType(module, name), description, schema };
}

const addedDescriptions: Readonly<Record<string, string>> = {
  id: 'Unique id.',
  organizationId: 'Organization that the record belongs to.',
  userId: 'User that the record belongs to.',
};

/** Kinds of the record whose id a field holds. */
function targetsOf({ fields, tenancy }: EntityModule, name: string): string[] {
  const field = fields[name];
  if (!field) return tenancyField(tenancy).includes(name) ? [snakeCase(name.replace(/Id$/, ''))] : [];
  return [field.target ?? [], field.anyOf?.kinds ?? []].flat().map(snakeCase);
}

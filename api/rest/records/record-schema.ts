import { Type, type TObject, type TSchema } from 'typebox';
import type { EntityModule } from '#entities/kit/model/define.ts';
import { snakeCase } from '#entities/kit/base/snake-case.ts';
import { changeableFields, isRequired, writableFields, type NamedField } from '#entities/kit/model/exposure.ts';
import type { Field } from '#entities/kit/model/fields.ts';
import { answeredFields } from './record-names.ts';

interface JsonSchema {
  readonly type?: string;
  readonly enum?: readonly unknown[];
  readonly [keyword: string]: unknown;
}

const instant = { type: 'string', format: 'date-time' } as const;
const id = { type: 'string' } as const;

/** What every record says of itself. */
const recordShapes: Readonly<Record<string, JsonSchema>> = {
  createdAt: instant,
  updatedAt: instant,
  recordVersion: { type: 'integer', description: 'Raised by one with every change.' },
};

/** Of a change or a deletion: the version that it is made for. */
export const versionSchema = Type.Optional(
  Type.Integer({
    minimum: 1,
    maximum: 2_147_483_647,
    description: 'Version it is made for; with another one it is refused as stale.',
  }),
);

/** An id as it is given; whether there can be such a one is found out later. */
export const idText = { type: 'string', maxLength: 100 } as const;

/** A record as it is answered. */
export function recordSchema(module: EntityModule): TObject {
  const properties = answeredFields(module).map((name): [string, TSchema] => {
    const field = module.fields[name];
    if (!field) return [snakeCase(name), Type.Unsafe(recordShapes[name] ?? id)];
    // Limits are for what is given; what is answered was given before, perhaps under other limits.
    const { type, enum: words, items, format } = valueSchema(field);
    const shape = { ...(type ? { type } : {}), ...(words ? { enum: words } : {}), ...(items ? { items } : {}) };
    return [snakeCase(name), describedValue(field, { ...shape, ...(format === 'date-time' ? { format } : {}) })];
  });
  return Type.Object(Object.fromEntries(properties), { description: module.description });
}

/** What a creation takes. */
export function creationSchema(module: EntityModule): TObject {
  return bodySchema(writableFields(module), isRequired);
}

/** What a change takes: what is left out stays as it is. */
export function changeSchema(module: EntityModule): TObject {
  const { properties } = bodySchema(changeableFields(module), () => false);
  return Type.Object({ ...properties, record_version: versionSchema }, { additionalProperties: false });
}

function bodySchema(fields: readonly NamedField[], mustBeThere: (field: Field) => boolean): TObject {
  const properties = fields.map(([name, field]): [string, TSchema] => {
    const schema = describedValue(field, valueSchema(field));
    return [snakeCase(name), mustBeThere(field) ? schema : Type.Optional(schema)];
  });
  return Type.Object(Object.fromEntries(properties), { additionalProperties: false });
}

function describedValue(field: Field, schema: JsonSchema): TSchema {
  const described = { ...schema, description: field.description };
  if (!field.optional || schema.type === undefined) return Type.Unsafe(described);
  return Type.Unsafe({
    ...described,
    type: [schema.type, 'null'],
    ...(schema.enum ? { enum: [...schema.enum, null] } : {}),
  });
}

/** JSON schema of a present value. The data layer checks it again by the field itself. */
export function valueSchema(field: Field): JsonSchema {
  if (field.values) return { type: 'string', enum: field.values };
  return field.type === 'json' ? {} : { ...(field.schema as JsonSchema) };
}

import { Type, type TObject, type TSchema } from 'typebox';
import type { EntityModule } from '#entities/kit/model/define.ts';
import { snakeCase } from '#entities/kit/base/snake-case.ts';
import {
  answeredFields,
  changeableFields,
  isRequired,
  refusedFields,
  writableFields,
  type NamedField,
} from '#entities/kit/model/exposure.ts';
import { currentField, isSessionKind } from '#entities/kit/model/current-record.ts';
import type { Field } from '#entities/kit/model/declared-field.ts';
import { describedKeyword } from '#entities/kit/model/described-schema.ts';
import { linkDescription, type Links } from '#entities/kit/model/links.ts';
import { availabilities, fileValues, type FileValue } from '#entities/kit/model/files/stored-file.ts';
import { idText, optionalLine, visibleLine, visibleText } from '../../http/request-schemas.ts';
import { recordNames } from './record-names.ts';

export interface JsonSchema {
  readonly type?: string | readonly string[];
  readonly enum?: readonly unknown[];
  readonly [keyword: string]: unknown;
}

const instant = { type: 'string', format: 'date-time' } as const;
const id = { type: 'string' } as const;

/** Schemas of the fields of every record. */
const recordShapes: Readonly<Record<string, JsonSchema>> = {
  createdAt: { ...instant, description: 'When the record was created.' },
  updatedAt: { ...instant, description: 'When the record was last changed.' },
  recordVersion: { type: 'integer', description: 'Version number; each change increases it by one.' },
};

/** A file in an answer. */
const fileSchema: JsonSchema = {
  type: ['object', 'null'],
  properties: {
    ...Object.fromEntries(
      Object.entries(fileValues).map(([name, description]) => [
        snakeCase(name),
        { ...fileValueSchema(name as FileValue), description },
      ]),
    ),
    url: { type: 'string', description: 'URL of the content. It needs the same credentials as the record.' },
  },
};

function fileValueSchema(name: FileValue): JsonSchema {
  if (name === 'availability') return { enum: Object.keys(availabilities) };
  return { type: name === 'sizeBytes' ? 'integer' : 'string' };
}

/** Expected record version of a change or a deletion. */
export const versionSchema = Type.Optional(
  Type.Integer({
    minimum: 1,
    maximum: 2_147_483_647,
    description: 'Expected record version; if the record has another version, the request fails with stale_record.',
  }),
);

/** Response schema of a record. */
export function recordSchema(module: EntityModule): TObject {
  const properties = answeredFields(module).map((name): [string, TSchema] => {
    const field = module.fields[name];
    if (!field) return [snakeCase(name), Type.Unsafe(recordShapes[name] ?? id)];
    if (field.type === 'file')
      return [snakeCase(name), Type.Unsafe({ ...fileSchema, description: inRestNames(field.description) })];
    // Without limits: stored values may have been accepted under other limits.
    const { type, enum: words, items, format } = valueSchema(field);
    const shape = { ...(type ? { type } : {}), ...(words ? { enum: words } : {}), ...(items ? { items } : {}) };
    return [
      snakeCase(name),
      describedValue(field, { ...shape, ...(format && shownFormats.has(format as string) ? { format } : {}) }),
    ];
  });
  if (isSessionKind(module))
    properties.push([snakeCase(currentField.name), Type.Boolean({ description: currentField.description })]);
  return Type.Object(Object.fromEntries(properties), {
    title: recordNames(module).one,
    description: module.description,
  });
}

/** Formats that stored values always have. */
const shownFormats = new Set(['date-time', 'date', 'decimal']);

/** Description of the value of a file field in a body. */
const uploadNote = 'The value is the id of an upload of the caller (`POST /v1/uploads`) that no record has taken.';

/** Body of a creation. */
export function creationSchema(module: EntityModule, links: readonly Links[] = []): TObject {
  const { properties } = bodySchema(module, writableFields(module), isRequired);
  return Type.Object(
    { ...properties, ...linkProperties(links, ['add']) },
    { title: `Create${recordNames(module).one}Input`, additionalProperties: false, ...dependences(module) },
  );
}

/**
 * Fields of a new record that need another one: both of a pair or none (`money`), and the status of which one is the moment. The data
 * layer refuses in words of its own.
 */
function dependences({ fields }: EntityModule): object {
  const needed = Object.entries(fields).flatMap(([name, { generated, pairedWith, momentOf }]): [string, object][] => {
    if (generated) return [];
    if (pairedWith !== undefined) return [[snakeCase(name), present(pairedWith, { not: { type: 'null' } })]];
    return momentOf ? [[snakeCase(name), present(momentOf.field, { const: momentOf.is })]] : [];
  });
  if (needed.length === 0) return {};
  const dependentSchemas = needed.map(([name, other]): [string, object] => [
    name,
    { anyOf: [{ properties: { [name]: { type: 'null' } } }, other] },
  ]);
  return { [describedKeyword]: { dependentSchemas: Object.fromEntries(dependentSchemas) } };
}

function present(field: string, is: object): object {
  const name = snakeCase(field);
  return { required: [name], properties: { [name]: is } };
}

/** Body of a change; omitted fields stay unchanged. */
export function changeSchema(module: EntityModule, links: readonly Links[] = []): TObject {
  const { properties } = bodySchema(module, changeableFields(module), () => false);
  return Type.Object(
    { ...properties, ...linkProperties(links, ['add', 'remove']), record_version: versionSchema },
    { title: `Update${recordNames(module).one}Input`, additionalProperties: false },
  );
}

/** Ids of records to link, and of those of which to end the link. */
function linkProperties(links: readonly Links[], changes: readonly ('add' | 'remove')[]): Record<string, TSchema> {
  const properties = links.flatMap((link) =>
    changes.map((change): [string, TSchema] => [
      snakeCase(link[change]),
      Type.Optional(
        Type.Array(Type.Unsafe<string>(idText), { maxItems: 1_000, description: linkDescription(link, change) }),
      ),
    ]),
  );
  return Object.fromEntries(properties);
}

function bodySchema(module: EntityModule, fields: readonly NamedField[], isNeeded: (field: Field) => boolean): TObject {
  const properties = fields.map(([name, field]): [string, TSchema] => {
    const input = field.type === 'file' ? { ...field, description: `${field.description} ${uploadNote}` } : field;
    const schema = describedValue(input, valueSchema(field));
    return [snakeCase(name), isNeeded(field) ? schema : Type.Optional(schema)];
  });
  const accepted = new Set(fields.map(([name]) => name));
  const refused = [...refusedFields(module, accepted)].map(([name, reason]): [string, TSchema] => [
    snakeCase(name),
    Type.Optional(
      Type.Unsafe({ readOnly: true, not: {}, description: `${reason.slice(0, 1).toUpperCase()}${reason.slice(1)}.` }),
    ),
  ]);
  return Type.Object(Object.fromEntries([...properties, ...refused]), { additionalProperties: false });
}

function describedValue(field: Field, schema: JsonSchema): TSchema {
  const described = { ...schema, description: inRestNames(field.description) };
  if (!field.optional || schema.type === undefined) return Type.Unsafe(described);
  return Type.Unsafe({
    ...described,
    type: [schema.type, 'null'],
    ...(schema.enum ? { enum: [...schema.enum, null] } : {}),
  });
}

/** A description with the names that other fields have in REST. */
export function inRestNames(description: string): string {
  return description.replaceAll(/`[a-z]+(?:[A-Z][a-z]*)+`/g, snakeCase);
}

/** Examples of texts whose pattern does not describe their meaning. */
const examplesByPattern: Readonly<Record<string, readonly string[]>> = {
  '^\\+[1-9][0-9]{1,14}$': ['+14155550123'],
};

/** JSON schema of a value that is not null. The data layer validates values again. */
export function valueSchema(field: Field): JsonSchema {
  if (field.values) return { type: 'string', enum: field.values };
  if (field.type === 'json')
    return describedKeyword in field.schema ? { [describedKeyword]: field.schema[describedKeyword] } : {};
  // The data layer says what an upload is.
  if (field.type === 'file') return idText;
  // The data layer says in words how many digits are accepted.
  if (field.type === 'decimal') {
    const { pattern } = field.schema as TextShape;
    return { type: 'string', format: 'decimal', maxLength: 100, [describedKeyword]: { pattern } };
  }
  const schema: JsonSchema = {
    ...field.schema,
    ...(field.isName ? { [describedKeyword]: { format: 'name' } } : notBlank(field)),
  };
  const examples = field.naming === 'kind' ? ['task'] : examplesByPattern[String(schema['pattern'])];
  return { ...schema, ...(examples && schema['examples'] === undefined ? { examples } : {}) };
}

/** A required text shows something, and so do the items of a list and texts of one line that are not empty; secrets may be anything. */
function notBlank({ schema, secret, type, isOneLine }: Field): JsonSchema {
  const { minLength = 0, pattern, format, items } = schema as TextShape;
  if (secret || pattern !== undefined || format !== undefined || describedKeyword in schema) return {};
  if (type === 'textList' && (items?.minLength ?? 0) > 0 && items?.format === undefined)
    return { items: { ...items, [describedKeyword]: { pattern: visibleText } } };
  if (isOneLine) return { [describedKeyword]: { pattern: minLength > 0 ? visibleLine : optionalLine } };
  return type === 'text' && minLength > 0 ? { [describedKeyword]: { pattern: visibleText } } : {};
}

interface TextShape {
  readonly minLength?: number;
  readonly pattern?: string;
  readonly format?: string;
  readonly items?: TextShape;
}

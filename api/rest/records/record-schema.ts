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
import { openProposalField } from '#entities/kit/model/derived/open-proposal.ts';
import { describedKeyword } from '#entities/kit/model/described-schema.ts';
import { linkDescription, type Links } from '#entities/kit/model/links.ts';
import { canHold } from '#entities/kit/write/change-behaviour.ts';
import { availabilities, fileValues, type FileValue } from '#entities/kit/model/files/stored-file.ts';
import { idText, versionSchema } from '../../http/request-schemas.ts';
import { describedValue, inRestNames, valueSchema, type JsonSchema } from '../../http/value-schema.ts';
import { heldSchema } from './held-fields.ts';
import { recordNames } from './record-names.ts';

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
  if (module.automation)
    properties.push([snakeCase(openProposalField.name), Type.Boolean({ description: openProposalField.description })]);
  if (isSessionKind(module))
    properties.push([snakeCase(currentField.name), Type.Boolean({ description: currentField.description })]);
  return Type.Object(Object.fromEntries(properties), {
    title: recordNames(module).one,
    description: module.description,
  });
}

/** Response schema of a changed record; of a kind that can hold fields, it lists those that were not written. */
export function changedRecordSchema(module: EntityModule, answer: TObject): TObject {
  if (!canHold(module)) return answer;
  return Type.Object({ ...answer.properties, held: heldSchema }, { title: `Changed${recordNames(module).one}` });
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
    { title: `Create${recordNames(module).one}Input`, additionalProperties: false, ...dependences(module, 'creation') },
  );
}

/**
 * Fields that need another one: both of a pair or none (`money`), and the status of which one is the moment. The data layer refuses in words
 * of its own. A change can leave out the other field; then that of the record counts.
 */
function dependences({ fields }: EntityModule, body: 'creation' | 'change'): object {
  const present = (field: string, is: object): object => {
    const name = snakeCase(field);
    return { ...(body === 'creation' ? { required: [name] } : {}), properties: { [name]: is } };
  };
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

/** Body of a change; omitted fields stay unchanged. */
export function changeSchema(module: EntityModule, links: readonly Links[] = []): TObject {
  const { properties } = bodySchema(module, changeableFields(module), () => false);
  return Type.Object(
    { ...properties, ...linkProperties(links, ['add', 'remove']), record_version: versionSchema },
    { title: `Update${recordNames(module).one}Input`, additionalProperties: false, ...dependences(module, 'change') },
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

/** The data layer refuses other kinds with those that there are. */
function bodyValue(field: Field): JsonSchema {
  const schema = valueSchema(field);
  return field.naming === 'kind' ? { ...schema, [describedKeyword]: { shared: 'ListedKind' } } : schema;
}

function bodySchema(module: EntityModule, fields: readonly NamedField[], isNeeded: (field: Field) => boolean): TObject {
  const properties = fields.map(([name, field]): [string, TSchema] => {
    const input = field.type === 'file' ? { ...field, description: `${field.description} ${uploadNote}` } : field;
    const schema = describedValue(input, bodyValue(field));
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

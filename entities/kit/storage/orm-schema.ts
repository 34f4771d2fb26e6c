import { maxNameLength } from '../base/max-name-length.ts';
import { createHash } from 'node:crypto';
import { EntitySchema, type EntitySchemaMetadata } from '@mikro-orm/core';
import type { EntityModule } from '../model/define.ts';
import type { UniqueKey } from '../model/record-rules.ts';
import type { Registry } from '../model/registry.ts';
import { listIndexes, type NamedExpression } from './list-indexes.ts';
import { searchedText, searchedWords } from './searched-text.ts';
import { snakeCase } from '../base/snake-case.ts';
import type { Field } from '../model/declared-field.ts';

/** Database roles of units of work; the owner of the tables is used for migrations only. Neither of the two can log in. */
export const databaseRoles = { app: 'core_app', system: 'core_system' } as const;

/** Transaction settings that the row-level security policies read; they are set in the same message as BEGIN. */
export const sessionSettings = { organizationId: 'core.organization_id', userId: 'core.user_id' } as const;

const currentOrganization = `current_setting('${sessionSettings.organizationId}', true)`;
const currentUser = `current_setting('${sessionSettings.userId}', true)`;

/** Row-level security policy of the app role: rows that its statements can read, and rows that they can write. */
function appPolicy(module: EntityModule): { readonly using: string; readonly check: string } {
  const using = rlsUsingOf(module);
  return { using, check: module.rlsWithCheck ? withSettings(module.rlsWithCheck) : using };
}

/** USING expression of the row-level security policy of the app role. */
export function rlsUsingOf(module: EntityModule): string {
  if (module.rlsUsing) return withSettings(module.rlsUsing);
  if (module.tenancy === 'organization') return `organization_id = ${currentOrganization}`;
  if (module.tenancy === 'user') return `user_id = ${currentUser}`;
  return 'false';
}

/** Replaces the placeholders `$organization` and `$user` by the transaction settings. */
function withSettings(predicate: string): string {
  const line = predicate.replaceAll(/\s+/g, ' ');
  return line.replaceAll('$organization', currentOrganization).replaceAll('$user', currentUser);
}

type Property = Record<string, unknown>;

const recordProperties: Record<string, Property> = {
  id: { type: 'string', columnType: 'text', primary: true },
  createdAt: { type: 'Date', columnType: 'timestamptz' },
  updatedAt: { type: 'Date', columnType: 'timestamptz' },
  createdBy: { type: 'string', columnType: 'text' },
  updatedBy: { type: 'string', columnType: 'text' },
  recordVersion: { type: 'number', columnType: 'integer', concurrencyCheck: true },
  deletedAt: { type: 'Date', columnType: 'timestamptz', nullable: true },
  deletedBy: { type: 'string', columnType: 'text', nullable: true },
};

const runtimeTypes = {
  text: 'string',
  textList: 'string[]',
  json: 'json',
  choice: 'string',
  integer: 'number',
  decimal: 'string',
  date: 'string',
  boolean: 'boolean',
  timestamp: 'Date',
  reference: 'string',
  file: 'string',
} as const satisfies Record<Field['type'], string>;

function propertyOf(name: string, field: Field, typeNameOf: (kind: string) => string): Property {
  const column = snakeCase(name);
  const common = { fieldName: column, nullable: field.optional || field.isNew === true, comment: field.description };
  if (field.type === 'reference') {
    // The index of an optional one is partial (`referenceIndexes`).
    return { ...common, ...referenceTo(typeNameOf(field.target as string)), index: !field.optional };
  }
  return {
    ...common,
    type: runtimeTypes[field.type],
    columnType: field.columnType,
    ...(field.values
      ? { check: `${column} in (${field.values.map((value) => `'${value.replaceAll("'", "''")}'`).join(', ')})` }
      : {}),
  };
}

/** Foreign keys are plain ids in the entity (`mapToPk`): a lazy reference would skip the tenant filter. */
function referenceTo(typeName: string): Property {
  return {
    kind: 'm:1',
    entity: () => typeName,
    mapToPk: true,
    columnType: 'text',
    deleteRule: 'restrict',
    updateRule: 'no action',
    index: true,
  };
}

export interface OrmSchemas {
  readonly all: readonly EntitySchema[];
  of(module: EntityModule): EntitySchema;
}

export function schemasOf(registry: Registry): OrmSchemas {
  const typeNameOf = (kind: string) => registry.byKind(kind).typeName;
  const schemas = new Map(registry.modules.map((module) => [module.kind, ormSchemaOf(module, typeNameOf)]));
  return {
    all: [...schemas.values()],
    of({ kind }) {
      const schema = schemas.get(kind);
      if (!schema) throw new TypeError(`entity "${kind}" is not in the registry of this database`);
      return schema;
    },
  };
}

/** MikroORM metadata of one kind: columns, keys over live rows, foreign keys, checks, row-level security policies. */
function ormSchemaOf(module: EntityModule, typeNameOf: (kind: string) => string): EntitySchema {
  const properties: Record<string, Property> = { ...recordProperties };
  if (module.tenancy === 'organization') {
    properties['organizationId'] = {
      fieldName: 'organization_id',
      nullable: false,
      ...referenceTo(typeNameOf('organization')),
      // The indexes of lists begin with this column.
      index: false,
    };
  }
  if (module.tenancy === 'user') {
    properties['userId'] = { fieldName: 'user_id', nullable: false, ...referenceTo(typeNameOf('user')) };
  }
  for (const [name, field] of Object.entries(module.fields)) properties[name] = propertyOf(name, field, typeNameOf);

  // System work for one organization is limited to it; system work without organization (relay, sweeps) is not limited.
  const systemPolicy =
    module.tenancy === 'organization'
      ? `coalesce(${currentOrganization}, '') = '' or organization_id = ${currentOrganization}`
      : 'true';
  const metadata = {
    name: module.typeName,
    tableName: module.table,
    comment: module.description,
    properties,
    uniques: (module.unique ?? []).map((key) => ({
      name: uniqueKeyName(module, key),
      properties: [...key.fields],
      where: key.onlyIf === undefined ? 'deleted_at is null' : `deleted_at is null and ${snakeCase(key.onlyIf)}`,
    })),
    indexes: [
      ...listIndexes(module),
      ...referenceIndexes(module),
      ...[searchIndexOf(module) ?? []].flat(),
      ...wordIndexes(module),
    ],
    checks: pairsOf(module).map(([one, other]) => ({
      name: `${module.table}_${one}_pair`,
      expression: `(${one} is null) = (${other} is null)`,
    })),
    rowLevelSecurity: true,
    policies: [
      { name: `${module.table}_app`, roles: [databaseRoles.app], ...appPolicy(module) },
      { name: `${module.table}_system`, roles: [databaseRoles.system], using: systemPolicy, check: systemPolicy },
    ],
  };
  // The metadata is built from data, so its static type is not known; discovery validates it at start.
  return new EntitySchema(metadata as unknown as EntitySchemaMetadata<object>);
}

/** Columns of which both have a value, or none (`pairedWith`). */
function pairsOf({ fields }: EntityModule): [string, string][] {
  return Object.entries(fields).flatMap(([name, { optional, pairedWith, type }]): [string, string][] =>
    optional && pairedWith !== undefined && type === 'decimal' ? [[snakeCase(name), snakeCase(pairedWith)]] : [],
  );
}

/**
 * Index of the trigrams and words of the searched fields (search-function.ts); undefined for kinds without search. With the organization
 * in it, a word that all organizations use costs each of them what its own records cost.
 */
export function searchIndexOf(module: EntityModule): NamedExpression | undefined {
  const { table, search = [], tenancy, rlsUsing } = module;
  if (search.length === 0) return undefined;
  const name = `${table}_search_index`;
  const columns = [
    ...(tenancy === 'organization' && !rlsUsing ? ['organization_id'] : []),
    `${searchedText(search)} gin_trgm_ops`,
    searchedWords(search),
  ];
  const expression = `create index "${name}" on "${table}" using gin (${columns.join(', ')}) where deleted_at is null`;
  return { name, expression };
}

/** Indexes of optional references: rows without one cost nothing, and the check of a deleted target looks for a value. */
function referenceIndexes({ table, fields }: EntityModule) {
  const optional = Object.entries(fields).filter(([, { target, optional: isOptional }]) => target && isOptional);
  return optional.map(([name]) => ({
    name: `${table}_${snakeCase(name)}_index`,
    properties: [name],
    where: `${snakeCase(name)} is not null`,
  }));
}

/** GIN indexes of text lists. Each word is prefixed with its organization, so that a look-up reads words of one organization only. */
function wordIndexes({ table, filter, fields }: EntityModule): NamedExpression[] {
  return filter
    .filter((field) => fields[field]?.type === 'textList')
    .map(snakeCase)
    .map((column) => {
      const name = `${table}_${column}_words`;
      const expression = `create index "${name}" on "${table}" using gin (tenant_words(organization_id, ${column})) where deleted_at is null`;
      return { name, expression };
    });
}

/** The unique key that an index enforces; undefined when the kind has no such key. */
export function uniqueKeyOf(module: EntityModule, index: string): UniqueKey | undefined {
  return module.unique?.find((key) => uniqueKeyName(module, key) === index);
}

/** Name of the partial unique index of a key. PostgreSQL cuts names that are longer, so the end of these is a hash. */
function uniqueKeyName(module: EntityModule, { fields }: UniqueKey): string {
  const name = `${module.table}_${fields.map(snakeCase).join('_')}`;
  if (name.length + 4 <= maxNameLength) return `${name}_key`;
  const hash = createHash('sha256').update(name).digest('hex').slice(0, 8);
  return `${name.slice(0, maxNameLength - 13)}_${hash}_key`;
}

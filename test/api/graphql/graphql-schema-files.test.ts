import { readdirSync, readFileSync } from 'node:fs';
import { buildSchema, lexicographicSortSchema, printSchema, validateSchema } from 'graphql';
import { expect, test } from 'vitest';
import { deriveSchema } from '#api/graphql/derived/derive-schema.ts';
import { productSchema } from '#api/graphql/graphql-schema.ts';
import { schemaFiles } from '#api/graphql/schema-files.ts';
import { registry } from '#entities/index.ts';
import { isExposed } from '#entities/kit/model/exposure.ts';
import { syntheticRegistry } from '../../kit/records/synthetic-kinds.ts';

const folder = new URL('../../../api/graphql/schema/', import.meta.url);

test('the printed files together define the schema that is served', () => {
  const texts = readdirSync(folder).map((file) => readFileSync(new URL(file, folder), 'utf8'));
  const composed = buildSchema(texts.join('\n'));
  expect(validateSchema(composed)).toEqual([]);
  const sorted = (schema: typeof composed) => printSchema(lexicographicSortSchema(schema));
  expect(sorted(composed)).toBe(sorted(productSchema()));
});

test('what belongs to a kind is printed in the file of its area', () => {
  const files = schemaFiles(productSchema(), registry);
  const areas = new Set(registry.modules.filter(isExposed).map((module) => registry.areaOf(module)));
  expect(areas).toContain('organizations');
  expect([...files.keys()].toSorted()).toEqual(['common', ...areas].toSorted());
  expect(files.get('work')).toContain('type TaskShareEdge ');
  expect(files.get('work')).toMatch(/extend type Mutation \{[^}]*createBulkCSVTask/);
  expect(files.get('groups')).toContain('type GroupMembershipConnection ');
  expect(files.get('organizations')).toContain('createOrganization(');
  for (const shared of ['interface Node ', 'type PageInfo ', 'scalar DateTime', 'enum HistoryOperation '])
    expect(files.get('common')).toContain(shared);
  expect(files.get('common')).not.toMatch(/^(?:type|input|enum) (?:\w*Task|\w*Group[A-Z])/m);
});

test('a schema of 110 kinds is valid and is composed from its files', () => {
  const many = syntheticRegistry(110);
  const schema = deriveSchema(many, []);
  expect(validateSchema(schema)).toEqual([]);
  expect(Object.keys(schema.getTypeMap()).length).toBeGreaterThan(110 * 15);
  const composed = buildSchema([...schemaFiles(schema, many).values()].join('\n'));
  expect(Object.keys(composed.getQueryType()?.getFields() ?? {}).toSorted()).toEqual(
    Object.keys(schema.getQueryType()?.getFields() ?? {}).toSorted(),
  );
});

import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { recordNames } from '#api/rest/records/record-names.ts';
import { snakeCase } from '#entities/kit/base/snake-case.ts';
import type { Field } from '#entities/kit/model/declared-field.ts';
import type { EntityModule } from '#entities/kit/model/define.ts';
import { membership, registry } from '#entities/index.ts';
import { isExposed } from '#entities/kit/model/exposure.ts';
import { asSystem } from '../../kit/as-person.ts';
import { AuthorizationFixtures } from '../../kit/records/authorization-fixtures.ts';
import { isInKey } from '../../kit/records/bulk-fixtures.ts';
import { mistakes, target, type DescribedApi, type DescribedSchema } from '../../kit/http/described-api.ts';
import { undescribed } from '../../kit/fuzz/undescribed.ts';
import { operationsOf, type RestOperation } from '../../kit/fuzz/openapi-requests.ts';
import { buildPerson, signedIn } from '../../kit/people.ts';
import type { TestAnswer } from '../../kit/test-client.ts';
import { openWorld, type World } from '../../kit/world.ts';

let world: World;
let document: DescribedApi;

beforeAll(async () => {
  world = await openWorld();
  document = (await world.client().get('/openapi.json')).body;
});
afterAll(() => world.close());

const jsonBody = ({ described: { requestBody } }: RestOperation) => requestBody?.content?.['application/json']?.schema;

const exampleOf = (schema: DescribedSchema) => structuredClone(target(document, schema).examples?.[0]) as object;

/** What the description does not say of an answer. */
function unlike(operation: RestOperation, url: string, answer: TestAnswer): readonly string[] {
  const wrong = undescribed(document, operation, { url }, answer);
  if (wrong !== undefined) return [wrong];
  const { responses = {} } = operation.described as { readonly responses?: Record<string, object> };
  const response = target(document, responses[String(answer.status)] ?? {}) as {
    readonly content?: Readonly<Record<string, { readonly schema?: DescribedSchema }>>;
  };
  const type = String(answer.headers['content-type']).split(';')[0] ?? '';
  const schema = response.content?.[type]?.schema;
  return schema ? mistakes(document, schema, answer.body) : [];
}

test('every body has an example, and all examples are valid', () => {
  const { schemas } = document.components;
  const without = operationsOf(document).filter((operation) => {
    const schema = jsonBody(operation) as DescribedSchema | undefined;
    return schema && target(document, schema).examples === undefined;
  });
  expect(without.map(({ name }) => name)).toEqual([]);
  const invalid = Object.entries(schemas).flatMap(([name, schema]) =>
    (schema.examples ?? []).flatMap((example) =>
      mistakes(document, schema, example).map((problem) => `${name}: ${problem}`),
    ),
  );
  expect(invalid).toEqual([]);
});

/** Whether a value depends on what an installation has, or on the time. */
const isOfInstallation = ({ type, anyOf }: Field) =>
  anyOf !== undefined || ['reference', 'file', 'timestamp'].includes(type);

/** Whether it must be unique and has few values: another record may have that of the example. */
const maybeTaken = (module: EntityModule, name: string, { schema }: Field) =>
  isInKey(module, name) && 'examples' in schema;

describe('requests with the examples', () => {
  test('create records of every kind, with ids of records that are there', async () => {
    const operations = new Map(operationsOf(document).map((operation) => [operation.name, operation]));
    const created: string[] = [];
    const closed: string[] = [];
    const wrong: unknown[] = [];
    for (const module of registry.modules.filter(isExposed)) {
      const { path } = recordNames(module);
      const operation = operations.get(`POST ${path}`);
      if (!operation || !module.mutate?.includes('create')) continue;
      // Records that others refer to may have what must be unique in an organization.
      const owner = await buildPerson(world);
      const client = await signedIn(world, owner);
      const values = await new AuthorizationFixtures(world, owner).creation(module.kind);
      const there = Object.fromEntries(Object.entries(values).map(([name, value]) => [snakeCase(name), value]));
      const example = exampleOf(jsonBody(operation) as DescribedSchema);
      const body = Object.fromEntries(
        Object.entries(example).map(([name, value]) => {
          const [fieldName = '', field] =
            Object.entries(module.fields).find(([each]) => snakeCase(each) === name) ?? [];
          const isGiven = field && (isOfInstallation(field) || maybeTaken(module, fieldName, field));
          return [name, isGiven ? (there[name] ?? value) : value];
        }),
      );
      const answer = await client.post(path, body);
      if (answer.status === 201) created.push(module.kind);
      // For programs alone.
      else if (answer.body.code === 'permission_denied') closed.push(module.kind);
      else wrong.push([module.kind, body, answer.body]);
      wrong.push(...unlike(operation, path, answer).map((problem) => `${module.kind}: ${problem}`));
    }
    expect(wrong).toEqual([]);
    expect(closed).toEqual(['fileVerdict']);
    expect(created.length).toBeGreaterThan(20);
  });

  test('are answered to people who act in no organization as it is described', async () => {
    const wrong: string[] = [];
    const codes = new Set<string>();
    const { organization } = await buildPerson(world);
    for (const operation of operationsOf(document)) {
      const schema = jsonBody(operation) as DescribedSchema | undefined;
      if (!schema) continue;
      const leaver = await buildPerson(world, { organization, role: 'member' });
      const client = await signedIn(world, leaver);
      await asSystem(world, organization.id, async (data) => {
        const held = await data.findOne(membership, { userId: { eq: leaver.user.id } });
        await data.remove(membership, held?.id ?? '');
      });
      const url = operation.path.replaceAll(/\{\w+\}/g, '01KG9ZV4X3M8Q2T7R5W1Y6B0CD');
      const answer = await client.mutate({ method: operation.method, url, payload: exampleOf(schema) });
      codes.add(answer.body?.code);
      wrong.push(...unlike(operation, url, answer).map((problem) => `${operation.name} ${answer.status}: ${problem}`));
    }
    expect(wrong).toEqual([]);
    expect(codes).toContain('no_current_organization');
  });

  test('are answered by all other operations as they describe it', async () => {
    const wrong: string[] = [];
    const statuses: number[] = [];
    for (const operation of operationsOf(document)) {
      const schema = jsonBody(operation) as DescribedSchema | undefined;
      if (!schema) continue;
      // Some of them end the session.
      const client = await signedIn(world, await buildPerson(world));
      const url = operation.path.replaceAll(/\{\w+\}/g, '01KG9ZV4X3M8Q2T7R5W1Y6B0CD');
      const answer = await client.mutate({ method: operation.method, url, payload: exampleOf(schema) });
      statuses.push(answer.status);
      wrong.push(...unlike(operation, url, answer).map((problem) => `${operation.name} ${answer.status}: ${problem}`));
      if (answer.body?.code === 'malformed_body') wrong.push(`${operation.name} ${JSON.stringify(answer.body)}`);
    }
    expect(wrong).toEqual([]);
    expect(statuses.filter((status) => status < 300).length).toBeGreaterThan(20);
  });
});

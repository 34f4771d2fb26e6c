import { getNamedType, isEnumType, isInputObjectType, type GraphQLInputObjectType } from 'graphql';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { productSchema } from '#api/graphql/graphql-schema.ts';
import { registry } from '#entities/index.ts';
import type { EntityModule } from '#entities/kit/model/define.ts';
import { recordFieldNames } from '#entities/kit/model/derived/record-fields.ts';
import { alwaysFilterable } from '#entities/kit/read/where.ts';
import { buildPerson, signedIn, type Person } from '../kit/people.ts';
import type { TestClient } from '../kit/test-client.ts';
import { openWorld, type World } from '../kit/world.ts';

/** T-53: nobody filters, orders or searches by what they do not see, so that answers tell nothing of it. */
let world: World;
let person: Person;
let client: TestClient;
beforeAll(async () => {
  world = await openWorld();
  person = await buildPerson(world);
  client = await signedIn(world, person);
});
afterAll(() => world.close());

const schema = productSchema();
const exposed = registry.modules.filter(({ expose }) => Object.keys(expose).length > 0);
const hidden = registry.modules.filter((module) => !exposed.includes(module));

function hiddenFields(module: EntityModule): string[] {
  const isShown = (name: string) => module.expose[name] !== undefined && module.expose[name] !== 'write';
  const given = recordFieldNames.filter((name) => !alwaysFilterable.some((always) => always === name));
  return [...Object.keys(module.fields).filter((name) => !isShown(name)), ...given];
}

test.each(exposed.map((module) => [module.kind, module] as const))(
  'T-53: %s can be filtered, ordered and searched by no hidden field',
  (_kind, module) => {
    const where = schema.getType(`${module.typeName}Where`) as GraphQLInputObjectType;
    expect(isInputObjectType(where)).toBe(true);
    const offered = Object.keys(where.getFields());
    const order = schema.getType(`${module.typeName}OrderField`);
    const orders: unknown[] = isEnumType(order) ? order.getValues().map(({ value }) => value as unknown) : [];
    for (const name of hiddenFields(module)) {
      expect(offered).not.toContain(name);
      expect(orders).not.toContain(name);
      for (const list of [module.filter, module.order, module.search ?? []]) expect(list).not.toContain(name);
    }
    const types = Object.values(where.getFields()).map(({ type }) => getNamedType(type).name);
    for (const other of hidden) {
      expect(types).not.toContain(`${other.typeName}Where`);
      expect(offered.map((name) => module.fields[name]?.target)).not.toContain(other.kind);
    }
  },
);

test('T-53: 256 guesses of a hidden value all get the same answer', async () => {
  const guesses = Array.from({ length: 256 }, (_none, place) => `$argon2id$${place.toString(16)}`);
  const answers = new Set<string>();
  for (const guess of guesses) {
    const { status, body } = await client.graphql(
      `query ($guess: String!) { users(where: { passwordHash: { startsWith: $guess } }) { totalCount } }`,
      { guess },
    );
    const errors = body.errors.map(({ message }: { message: string }) => message);
    answers.add(JSON.stringify([status, body.data, errors]).replaceAll(guess, 'GUESS'));
  }
  expect([...answers]).toHaveLength(1);
  expect([...answers][0]).toContain('passwordHash');
  const rest = new Set<string>();
  for (const guess of guesses.slice(0, 32)) {
    const { status, body } = await client.get(`/v1/users?password_hash=${encodeURIComponent(guess)}`);
    rest.add(JSON.stringify([status, body.code]));
  }
  expect([...rest]).toEqual([JSON.stringify([400, 'invalid_input'])]);
});

test('T-53: a filter through a relation shows nothing about hidden records', async () => {
  const member = await buildPerson(world, { organization: person.organization, role: 'member' });
  const secret = (await client.post('/v1/tasks', { title: 'guess me' })).body.id as string;
  const about = await client.post('/v1/tasks', {
    title: 'open to a member',
    assignee_id: member.user.id,
    parent_id: secret,
  });
  expect(about.status).toBe(201);
  const theirs = await signedIn(world, member);
  const count = async (where: string) =>
    (await theirs.graphql(`{ tasks(where: { ${where} }) { totalCount } }`)).data.tasks.totalCount as number;
  expect(await count('title: { eq: "open to a member" }')).toBe(1);
  // The task is theirs to see, the one above it is not.
  expect(await count('parent: { title: { startsWith: "guess" } }')).toBe(0);
  expect(await count('parent: { title: { startsWith: "wrong" } }')).toBe(0);
});

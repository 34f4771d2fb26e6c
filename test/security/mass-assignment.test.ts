import { afterAll, beforeAll, expect, test } from 'vitest';
import { registry } from '#entities/index.ts';
import type { EntityModule } from '#entities/kit/model/define.ts';
import { recordFieldNames } from '#entities/kit/model/derived/record-fields.ts';
import { writableFields } from '#entities/kit/model/exposure.ts';
import { offeredScopes } from '#entities/kit/model/scopes.ts';
import { snakeCase } from '#entities/kit/base/snake-case.ts';
import { asOwner } from '../kit/as-owner.ts';
import { buildPerson, signedIn, type Person } from '../kit/people.ts';
import { AuthorizationFixtures } from '../kit/records/authorization-fixtures.ts';
import { withEnumValues } from '../kit/fuzz/fuzz-writes.ts';
import type { TestClient } from '../kit/test-client.ts';
import { triedKinds } from '../kit/tried-kinds.ts';
import { openWorld, type World } from '../kit/world.ts';

/** T-54: an input takes the fields it names and no others: who owns, who made, when, and which version are not the caller's to say. */
let world: World;
let person: Person;
let client: TestClient;
/** Creates what only programs create. */
let program: TestClient;
let fixtures: AuthorizationFixtures;
beforeAll(async () => {
  world = await openWorld({
    environment: { CORE_AUTH_TOKEN_APITOKENS_ENABLED: 'true', CORE_API_TOKEN_KEY_FIRST: 'k'.repeat(40) },
  });
  person = await buildPerson(world);
  client = await signedIn(world, person);
  const { body } = await client.post('/v1/api-tokens', { name: 'a program', scopes: offeredScopes(registry, 'api') });
  program = world.client();
  program.bearer = body.token;
  fixtures = new AuthorizationFixtures(world, person);
});
afterAll(() => world.close());

const exposed = triedKinds(registry.modules).filter(({ expose }) => Object.keys(expose).length > 0);
const everyName = [
  ...recordFieldNames,
  'organizationId',
  'userId',
  'role',
  'emailConfirmedAt',
  'passwordHash',
  'status',
];

/** Names of columns that an input does not take. */
function refused(module: EntityModule, isCreation: boolean): string[] {
  const names = new Set([...everyName, ...Object.keys(module.fields)]);
  return [...names].filter((name) => {
    const isWritable = module.expose[name] !== undefined && module.expose[name] !== 'read';
    return !isWritable || (!isCreation && (module.fields[name]?.immutable ?? false));
  });
}

const values: Readonly<Record<string, unknown>> = { role: 'owner', status: 'active' };

const inSnakeCase = (input: Readonly<Record<string, unknown>>) =>
  Object.fromEntries(Object.entries(input).map(([name, value]) => [snakeCase(name), value]));

const offering = (mutation: 'create' | 'update') =>
  exposed.filter(({ mutate }) => mutate?.includes(mutation)).map((module) => [module.kind, module] as const);
const pathOf = ({ table }: EntityModule) => `/v1/${table.replaceAll('_', '-')}`;

test.each(offering('create'))(
  'T-54: creating a %s sets no field that its input does not have',
  async (kind, module) => {
    const path = pathOf(module);
    const isByPrograms = module.policy?.create.some(({ when }) => when.is === 'scope' && when.givenBy);
    const by = isByPrograms ? program : client;
    const document = `mutation ($input: Create${module.typeName}Input!) { create${module.typeName}(input: $input) { __typename } }`;
    const writable = new Set(writableFields(module).map(([name]) => name));
    const creation = async () =>
      Object.fromEntries(Object.entries(await fixtures.creation(kind)).filter(([name]) => writable.has(name)));
    // Without a field too many the same inputs are accepted.
    const accepted = await by.post(path, inSnakeCase(await creation()));
    expect(accepted.status, JSON.stringify(accepted.body)).toBe(201);
    expect((await by.graphql(document, { input: withEnumValues(module, await creation()) })).errors).toBeUndefined();
    const input = await creation();
    for (const name of refused(module, true)) {
      const planted = { [name]: values[name] ?? person.user.id };
      const answer = await by.post(path, inSnakeCase({ ...input, ...planted }));
      expect([name, answer.status], JSON.stringify(answer.body)).toEqual([name, 400]);
      expect(JSON.stringify(answer.body)).toContain(snakeCase(name));
      const { errors, data } = await by.graphql(document, {
        input: { ...withEnumValues(module, input), ...planted },
      });
      expect([name, data ?? null, errors?.length > 0]).toEqual([name, null, true]);
      expect(errors[0].message).toContain(name);
    }
  },
);

test.each(offering('update'))(
  'T-54: updating a %s sets no field that its input does not have',
  async (kind, module) => {
    const path = pathOf(module);
    const { id } = await fixtures.record(kind, kind === 'user' ? 'themselves' : 'any', person.user.id);
    const before = await asOwner(world, `select * from ${module.table} where id = $1`, [id]);
    for (const name of refused(module, false)) {
      const body = { [snakeCase(name)]: values[name] ?? person.user.id };
      const { status } = await client.mutate({ method: 'PATCH', url: `${path}/${id}`, payload: body });
      expect([name, status]).toEqual([name, 400]);
    }
    expect(await asOwner(world, `select * from ${module.table} where id = $1`, [id])).toEqual(before);
  },
);

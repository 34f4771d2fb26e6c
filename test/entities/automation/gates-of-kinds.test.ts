import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { recordNames } from '#api/rest/records/record-names.ts';
import { automatedKinds } from '#entities/automation/document/automated-kinds.ts';
import { group, groupMembership, identityProvider, registry } from '#entities/index.ts';
import { newId } from '#entities/kit/base/ids.ts';
import { snakeCase } from '#entities/kit/base/snake-case.ts';
import type { EntityModule } from '#entities/kit/model/define.ts';
import { proposalKindOf, proposedRecordField } from '#entities/kit/model/derived/proposal.ts';
import { asOwner } from '../../kit/as-owner.ts';
import { ApprovalGround } from '../../kit/automation/approval-ground.ts';
import { publishGate } from '../../kit/automation/publish-gate.ts';
import { expectProblem } from '../../kit/expect-problem.ts';
import { buildPerson, signedIn, type Person } from '../../kit/people.ts';
import { AuthorizationFixtures } from '../../kit/records/authorization-fixtures.ts';
import type { TestAnswer, TestClient } from '../../kit/test-client.ts';
import { openWorld, type World } from '../../kit/world.ts';

type Values = Readonly<Record<string, unknown>>;

/** What is tried with the records of a kind: values of fields, by their names in rows. */
interface Tried {
  /** A field that the gate holds, its value before, and the proposed one. */
  readonly held: readonly [field: string, before: unknown, proposed: unknown];
  /** A field that is written with the same change; absent where callers change no other one. */
  readonly other?: readonly [field: string, before: unknown, value: unknown];
}

/** A name that no other record has. */
const name = () => `name ${newId()}`;

const tried: Readonly<Record<string, () => Tried>> = {
  apiToken: () => ({ held: ['name', 'first', 'second'], other: ['description', null, 'written'] }),
  file: () => ({ held: ['name', 'first.txt', 'second.txt'], other: ['metadata', null, 7] }),
  groupMembership: () => ({ held: ['role', 'member', 'admin'] }),
  identityProvider: () => ({ held: ['isEnforced', false, true] }),
  membership: () => ({ held: ['role', 'member', 'auditor'] }),
  organizationSetting: () => ({
    held: ['emailTheme', 'modern', 'classic'],
    other: ['billingCity', null, 'Vienna'],
  }),
  task: () => ({ held: ['status', 'open', 'in_review'], other: ['title', 'first', 'second'] }),
  webhookEndpoint: () => ({ held: ['name', name(), name()], other: ['description', null, 'written'] }),
};

let world: World;
let owner: Person;
let client: TestClient;
let approver: TestClient;
let ground: ApprovalGround;
let fixtures: AuthorizationFixtures;
let mutations: ReadonlyMap<string, readonly string[]>;
let routes: ReadonlySet<string>;

beforeAll(async () => {
  world = await openWorld({
    environment: {
      CORE_WORKFLOWS_ENABLED: 'true',
      CORE_WORKFLOWS_CEL_TIMEOUT: '60000',
      CORE_AUTH_TOKEN_APITOKENS_ENABLED: 'true',
      CORE_API_TOKEN_KEY_FIRST: 'f'.repeat(64),
    },
  });
  owner = await buildPerson(world);
  client = await signedIn(world, owner);
  approver = await signedIn(world, await buildPerson(world, { organization: owner.organization, role: 'owner' }));
  ground = new ApprovalGround(world, owner);
  fixtures = new AuthorizationFixtures(world, owner);
  const { data } = await client.graphql('{ __schema { mutationType { fields { name args { name } } } } }');
  mutations = new Map(
    data.__schema.mutationType.fields.map((field: { name: string; args: { name: string }[] }) => [
      field.name,
      field.args.map(({ name }) => name),
    ]),
  );
  const { body } = await client.get('/openapi.json');
  routes = new Set(
    Object.entries(body.paths as Record<string, object>).flatMap(([path, methods]) =>
      Object.keys(methods).map((method) => `${method} ${path}`),
    ),
  );
  for (const [kind, values] of Object.entries(tried)) await publish(registry.byKind(kind), values().held[0]);
});
afterAll(() => world.close());

/** A definition that holds changes of a field, and deletions where callers delete such records. */
async function publish(module: EntityModule, field: string): Promise<void> {
  const isDeleted = module.mutate?.includes('delete') === true;
  await publishGate(world, owner.organization.id, {
    schemaType: module.kind,
    triggers: [
      { operation: 'UPDATE', fields: [snakeCase(field)] },
      ...(isDeleted ? [{ operation: 'DELETE' } as const] : []),
    ],
    actions: [
      {
        key: 'agree',
        type: 'REQUEST_APPROVAL',
        params: { fields: [snakeCase(field)], targets: [{ type: 'ROLE', id: 'owner' }], required_count: 1 },
      },
    ],
  });
}

interface Made {
  readonly id: string;
  readonly held: Tried['held'];
  readonly other: NonNullable<Tried['other']> | undefined;
  /** Number of proposals about it: some kinds have one record in an organization. */
  readonly former: number;
}

/** A record with the values from before, which the server sets although a gate holds them. */
async function made(module: EntityModule): Promise<Made> {
  const { held, other } = (tried[module.kind] as () => Tried)();
  const { id } = await fixtures.record(module.kind, 'any');
  const values = Object.fromEntries([held, ...(other ? [other] : [])].map(([field, before]) => [field, before]));
  await fixtures.asSystem(async (data) => {
    await data.update(module, id, values);
    if (module.kind === 'identityProvider') await data.update(identityProvider, id, { testedAt: world.clock.now() });
  });
  return { id, held, other, former: (await proposalsOf(module, id)).length };
}

async function rowOf({ table }: EntityModule, id: string): Promise<Values> {
  const [found] = await asOwner<{ row: Values }>(world, `select to_jsonb(t) as row from "${table}" t where id = $1`, [
    id,
  ]);
  return found?.row ?? {};
}

/** Without what follows from a change, whatever it is. */
function withoutDerived({ updated_at: _at, updated_by: _by, ...row }: Values): Values {
  return Object.fromEntries(Object.entries(row).filter(([name]) => !/^search|_form$/.test(name)));
}

/** The row of a record with all that its changes leave. */
async function traces(module: EntityModule, id: string) {
  const [counts] = await asOwner<{ history: number; events: number }>(
    world,
    `select (select count(*)::int from history where entity_id = $1) as history,
      (select count(*)::int from events where entity_id = $1) as events`,
    [id],
  );
  return { history: 0, events: 0, ...counts, row: await rowOf(module, id) };
}

const proposalsOf = (module: EntityModule, id: string) =>
  asOwner<{ instance: string; trigger: string; changes: Values; status: string }>(
    world,
    `select instance_id as instance, trigger, changes, status from "${registry.byKind(proposalKindOf(module)).table}"
      where "${snakeCase(proposedRecordField(module))}" = $1 order by id`,
    [id],
  );

/** The other owner approves, and the workflow takes its steps. */
async function approve(instanceId: string): Promise<void> {
  await ground.step(instanceId);
  const { body } = await approver.get(`/v1/workflow-assignments?instance_id=${instanceId}&status=pending`);
  const answer = await approver.post(`/v1/workflow-assignments/${body.data[0].id}/approve`, {});
  expect(answer.status, JSON.stringify(answer.body)).toBe(200);
  await ground.step(instanceId);
}

type Way = (id: string, values: Values) => Promise<TestAnswer>;

/** The ways in which callers change records of a kind, by name. */
function changesOf(module: EntityModule): Readonly<Record<string, Way>> {
  const { typeName, kind } = module;
  const { path } = recordNames(module);
  const ways: Record<string, Way> = {};
  const word = (field: string, value: unknown) =>
    module.fields[field]?.type === 'choice' ? String(value).toUpperCase() : value;
  const inputOf = (values: Values) =>
    Object.fromEntries(Object.entries(values).map(([field, value]) => [field, word(field, value)]));
  if (routes.has(`patch ${path}/{id}`))
    ways['PATCH'] = (id, values) => {
      const payload = Object.fromEntries(Object.entries(values).map(([field, value]) => [snakeCase(field), value]));
      return client.mutate({ method: 'PATCH', url: `${path}/${id}`, payload });
    };
  const one = `update${typeName}`;
  if (mutations.has(one) && mutations.get(one)?.includes('id'))
    ways[one] = (id, values) =>
      client.graphql(
        `mutation ($id: ID!, $input: Update${typeName}Input!) { ${one}(id: $id, input: $input) { ${kind} { id } } }`,
        { id, input: inputOf(values) },
      );
  else if (mutations.has(one))
    ways[one] = (id, values) =>
      client.graphql(`mutation ($input: Update${typeName}Input!) { ${one}(input: $input) { ${kind} { id } } }`, {
        input: { id, ...inputOf(values) },
      });
  const many = `updateBulk${typeName}`;
  if (mutations.has(many))
    ways[many] = (id, values) =>
      client.graphql(
        `mutation ($ids: [ID!]!, $input: Update${typeName}Input!) { ${many}(ids: $ids, input: $input) { updatedIds notUpdated { message } } }`,
        { ids: [id], input: inputOf(values) },
      );
  const csv = `updateBulkCSV${typeName}`;
  if (mutations.has(csv))
    ways[csv] = (id, values) => {
      const document = `id,${Object.keys(values).join()}\n${id},${Object.values(values).join()}\n`;
      return client.graphql(`mutation ($csv: String!) { ${csv}(csv: $csv) { updatedIds } }`, { csv: document });
    };
  if (kind === 'identityProvider')
    ways['enforcement'] = (_id, { isEnforced }) => client.post('/v1/sso/enforcement', { is_enforced: isEnforced });
  return ways;
}

/** The ways in which callers delete records of a kind, by name. */
function deletionsOf(module: EntityModule): Readonly<Record<string, (id: string) => Promise<TestAnswer>>> {
  const { typeName } = module;
  const { path } = recordNames(module);
  const ways: Record<string, (id: string) => Promise<TestAnswer>> = {};
  if (routes.has(`delete ${path}/{id}`))
    ways['DELETE'] = (id) => client.mutate({ method: 'DELETE', url: `${path}/${id}` });
  const one = `delete${typeName}`;
  if (mutations.has(one))
    ways[one] = (id) => client.graphql(`mutation ($id: ID!) { ${one}(id: $id) { deletedId } }`, { id });
  const many = `deleteBulk${typeName}`;
  if (mutations.has(many))
    ways[many] = (id) =>
      client.graphql(`mutation ($ids: [ID!]!) { ${many}(ids: $ids) { deletedIds notDeleted { message } } }`, {
        ids: [id],
      });
  return ways;
}

function expectAccepted({ status, body }: TestAnswer): void {
  expect([200, 202, 204], JSON.stringify(body)).toContain(status);
  expect(body.errors, JSON.stringify(body)).toBeUndefined();
}

test('every kind that workflows know is tried', () => {
  expect(Object.keys(tried).toSorted()).toEqual(
    automatedKinds(registry)
      .map(({ kind }) => kind)
      .toSorted(),
  );
});

describe.each(Object.keys(tried))('a gate of the kind %s', (kind) => {
  const module = registry.byKind(kind);

  /** The proposals that were made about a record since it was made. */
  const proposed = async ({ id, former }: Made) => (await proposalsOf(module, id)).slice(former);

  test('holds a change made in any way, and an approval writes exactly these values', async () => {
    const ways = Object.entries(changesOf(module));
    expect(ways.length).toBeGreaterThan(0);
    for (const [way, change] of ways) {
      const record = await made(module);
      const { id, held } = record;
      const [field, , value] = held;
      const before = await traces(module, id);
      expectAccepted(await change(id, { [field]: value }));
      expect({ way, ...(await traces(module, id)) }).toEqual({ way, ...before });
      const [proposal, ...more] = await proposed(record);
      expect([way, proposal, more]).toMatchObject([way, { changes: { [field]: value }, status: 'submitted' }, []]);
      await approve(proposal?.instance ?? '');
      const after = await traces(module, id);
      const written = { [snakeCase(field)]: value, record_version: Number(before.row['record_version']) + 1 };
      expect([way, after.history, after.events]).toEqual([way, before.history + 1, before.events + 1]);
      expect([way, withoutDerived(after.row)]).toEqual([way, { ...withoutDerived(before.row), ...written }]);
      expect((await proposed(record)).map(({ status }) => status)).toEqual(['applied']);
    }
  });

  // Of some kinds callers change no other field.
  const testWithOther = tried[kind]?.().other ? test : undefined;
  testWithOther?.('lets the other fields of a change be written', async () => {
    for (const [way, change] of Object.entries(changesOf(module))) {
      const record = await made(module);
      const { id, held, other } = record;
      const [field, former, value] = held;
      const [another, , given] = other as NonNullable<typeof other>;
      const { record_version: version } = await rowOf(module, id);
      expectAccepted(await change(id, { [field]: value, [another]: given }));
      const row = await rowOf(module, id);
      const written = { [snakeCase(field)]: former, [snakeCase(another)]: given, record_version: Number(version) + 1 };
      expect([way, row]).toMatchObject([way, written]);
      const [proposal] = await proposed(record);
      expect([way, proposal?.changes]).toEqual([way, { [field]: value }]);
      await approve(proposal?.instance ?? '');
      expect(await rowOf(module, id)).toMatchObject({
        ...written,
        [snakeCase(field)]: value,
        record_version: Number(version) + 2,
      });
    }
  });

  const testDeletion = module.mutate?.includes('delete') ? test : undefined;
  testDeletion?.('holds a deletion made in any way until it is approved', async () => {
    const ways = Object.entries(deletionsOf(module));
    expect(ways.length).toBeGreaterThan(0);
    for (const [way, remove] of ways) {
      const record = await made(module);
      const { id } = record;
      const before = await traces(module, id);
      expectAccepted(await remove(id));
      expect({ way, ...(await traces(module, id)) }).toEqual({ way, ...before });
      const [proposal] = await proposed(record);
      expect([way, proposal]).toMatchObject([way, { trigger: 'delete', changes: {}, status: 'submitted' }]);
      await approve(proposal?.instance ?? '');
      expect([way, (await rowOf(module, id))['deleted_at']]).toEqual([way, expect.any(String)]);
    }
  });

  test('does not hold the work of the server', async () => {
    const record = await made(module);
    const { id, held } = record;
    const [field, , value] = held;
    await fixtures.asSystem((data) => data.update(module, id, { [field]: value }));
    expect((await rowOf(module, id))[snakeCase(field)]).toBe(value);
    if (module.mutate?.includes('delete')) await fixtures.asSystem((data) => data.remove(module, id));
    expect(await proposed(record)).toEqual([]);
  });
});

test('the members of a group are deleted with it, although a gate holds their deletion', async () => {
  const { id: groupId } = await fixtures.asSystem((data) => data.create(group, { name: 'a group of one' }));
  const { id } = await fixtures.asSystem((data) =>
    data.create(groupMembership, { groupId, userId: owner.user.id, role: 'member' }),
  );
  expect((await client.mutate({ method: 'DELETE', url: `/v1/groups/${groupId}` })).status).toBe(204);
  expect((await rowOf(groupMembership, id))['deleted_at']).toEqual(expect.any(String));
  expect(await proposalsOf(groupMembership, id)).toEqual([]);
});

describe('a gate of the enforcement of single sign-on', () => {
  test('refuses other settings while it holds the end of the enforcement', async () => {
    const { id } = await made(identityProvider);
    await fixtures.asSystem((data) => data.update(identityProvider, id, { isEnforced: true }));
    const before = await traces(identityProvider, id);
    const former = await proposalsOf(identityProvider, id);
    const settings = { issuer: 'https://other.example', client_id: 'other', client_secret: 'other' };
    const answer = await client.mutate({ method: 'PUT', url: '/v1/sso/provider', payload: settings });
    expectProblem(answer, 'rule_violated');
    expect(await traces(identityProvider, id)).toEqual(before);
    expect(await proposalsOf(identityProvider, id)).toEqual(former);
  });

  test('writes no approved enforcement of settings that were not tested', async () => {
    const { id, former } = await made(identityProvider);
    expectAccepted(await client.post('/v1/sso/enforcement', { is_enforced: true }));
    await fixtures.asSystem((data) => data.update(identityProvider, id, { testedAt: null }));
    const [proposal] = (await proposalsOf(identityProvider, id)).slice(former);
    await approve(proposal?.instance ?? '');
    expect(await rowOf(identityProvider, id)).toMatchObject({ is_enforced: false });
    expect((await proposalsOf(identityProvider, id)).at(-1)).toMatchObject({ status: 'rejected' });
  });
});

import { Type } from 'typebox';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { defineRoute } from '#api/http/route.ts';
import { task } from '#entities/index.ts';
import { concurrentChanges } from '#entities/kit/base/errors.ts';
import { newId } from '#entities/kit/base/ids.ts';
import { systemCaller } from '#entities/kit/model/caller.ts';
import { asOwner } from '../../kit/as-owner.ts';
import { eventually } from '../../kit/eventually.ts';
import { expectGraphqlError } from '../../kit/graphql-error.ts';
import { expectProblem } from '../../kit/expect-problem.ts';
import { holdRow, waitForLocks } from '../../kit/records/held-row.ts';
import { organizationRoute } from '../../kit/http/misbehaving-routes.ts';
import { buildPerson, signedIn, testPassword, type Person } from '../../kit/people.ts';
import type { TestAnswer, TestClient } from '../../kit/test-client.ts';
import { openWorld, type World } from '../../kit/world.ts';

let world: World;
let owner: Person;
let client: TestClient;

/** Roles of the caller and numbers of hooks, by attempt at POST /test/attempts. */
const attempts: (string | null)[] = [];
const hooks: number[] = [];
let afterFirst: () => Promise<void>;

const attemptsRoute = defineRoute({
  method: 'POST',
  url: '/test/attempts',
  operationId: 'attemptsRoute',
  tag: 'Test',
  summary: 'Notes who calls',
  description: 'The first attempt ends as the test says.',
  access: 'required',
  answers: { 200: Type.Object({}) },
  errors: [],
  handle: async ({ unit }) => {
    const number = attempts.push(unit.context.caller.role);
    unit.afterCommit(() => void hooks.push(number));
    if (number === 1) await afterFirst();
    return { status: 200, body: {} };
  },
});

beforeAll(async () => {
  world = await openWorld({ routes: [organizationRoute(), attemptsRoute] });
  owner = await buildPerson(world);
  client = await signedIn(world, owner);
  // A sequence counts on when a transaction is rolled back.
  await asOwner(
    world,
    `create sequence conflicts;
     create table planted (count int not null, state text not null);
     insert into planted values (0, '40P01');
     grant select on planted to public;
     grant usage on conflicts to public;
     create function plant() returns trigger language plpgsql as $$
       declare wanted planted;
       begin
         select * into wanted from planted;
         if wanted.count > 0 and nextval('conflicts') <= wanted.count then raise exception 'planted' using errcode = wanted.state; end if;
         return new;
       end $$;
     create trigger plant before insert or update on tasks for each row execute function plant();
     create trigger plant before insert or update on organizations for each row execute function plant();
     create trigger plant before insert on users for each row execute function plant();
     create trigger plant before insert or delete on sign_in_failures for each row execute function plant();`,
  );
});
afterAll(() => world.close());

/** The next changes of rows fail that often. */
async function plant(count: number, state: '40P01' | '40001' = '40P01'): Promise<void> {
  await asOwner(world, `select setval('conflicts', 1, false)`);
  await asOwner(world, 'update planted set count = $1, state = $2', [count, state]);
}
beforeEach(() => plant(0));

/** Kinds of rows that a request left. */
async function leftBy(answer: TestAnswer): Promise<string[]> {
  const rows = await asOwner<{ left: string }>(
    world,
    `select 'history ' || entity_kind || ' ' || operation || ' ' || record_version as left from history where request_id = $1
     union all select 'event ' || topic from events where request_id = $1 order by 1`,
    [answer.headers['x-request-id']],
  );
  return rows.map(({ left }) => left);
}

function repeatsOf(answer: TestAnswer): number {
  const id = answer.headers['x-request-id'];
  return world.logs.filter(({ msg, request_id }) => msg === 'the unit of work is repeated' && request_id === id).length;
}

const createTask = `mutation ($title: String!) { createTask(input: { title: $title }) { task { id title recordVersion } } }`;

describe.each([
  ['a deadlock', '40P01'],
  ['a serialization failure', '40001'],
] as const)('a concurrent change, after %s', (_name, state) => {
  test.each([1, 2])('a REST request succeeds at repetition %i, and is stored and announced once', async (count) => {
    await plant(count, state);
    const answer = await client.post('/v1/tasks', { title: 'made once' });
    expect([answer.status, repeatsOf(answer)]).toEqual([201, count]);
    expect(answer.headers.location).toBe(`/v1/tasks/${answer.body.id}`);
    expect(await leftBy(answer)).toEqual(['event task.created', 'history task created 1']);
  });

  test.each([1, 2])(
    'a GraphQL operation succeeds at repetition %i, and is stored and announced once',
    async (count) => {
      await plant(count, state);
      const answer = await client.graphql(createTask, { title: 'made once' });
      expect([answer.errors, repeatsOf(answer)]).toEqual([undefined, count]);
      expect(answer.data.createTask.task).toMatchObject({ title: 'made once', recordVersion: 1 });
      expect(await leftBy(answer)).toEqual(['event task.created', 'history task created 1']);
    },
  );
});

describe('a third conflict is refused', () => {
  test('over REST with 503 and Retry-After, and leaves nothing', async () => {
    await plant(3);
    const answer = await client.post('/v1/tasks', { title: 'never made' });
    expectProblem(answer, 'concurrent_changes');
    expect(answer.headers['retry-after']).toBe('1');
    expect(await leftBy(answer)).toEqual([]);
    expect((await client.post('/v1/tasks', { title: 'made later' })).status).toBe(201);
  });

  test('over GraphQL with 503 and Retry-After, and leaves nothing of its other fields', async () => {
    await plant(3);
    const answer = await client.graphql(
      `mutation { a: createTag(input: { name: "never made" }) { tag { id } } b: createTask(input: { title: "b" }) { task { id } }
        c: createTask(input: { title: "c" }) { task { id } } }`,
    );
    expectGraphqlError(answer, 'concurrent_changes');
    expect([answer.status, answer.headers['retry-after']]).toEqual([503, '1']);
    expect(await leftBy(answer)).toEqual([]);
    expect((await client.graphql('{ tags { totalCount } }')).data.tags.totalCount).toBe(0);
  });
});

describe('each attempt begins anew', () => {
  test('a deletion, whose changes are written after its handler, is repeated', async () => {
    const { body } = await client.post('/v1/tasks', { title: 'to be deleted' });
    await plant(1);
    const answer = await client.mutate({ method: 'DELETE', url: `/v1/tasks/${body.id}` });
    expect([answer.status, repeatsOf(answer)]).toEqual([204, 1]);
    expect(await leftBy(answer)).toEqual(['event task.deleted', 'history task deleted 2']);
  });

  test('cookies are those of the last attempt, and nothing is recorded outside of a request that succeeds', async () => {
    await plant(2);
    const anonymous = world.client();
    const answer = await anonymous.post('/test/organizations', { name: 'repeated-x', outcome: 'answer' });
    expect([answer.status, repeatsOf(answer)]).toEqual([200, 2]);
    expect([answer.headers['set-cookie']].flat().filter((line) => line?.startsWith('credential='))).toHaveLength(1);
    const names = await asOwner(world, `select name from organizations where name like 'repeated-x%'`);
    expect(names).toEqual([{ name: 'repeated-x' }]);
    // With its settings, its billing and its managed groups, which have settings each; nothing of it twice.
    const kinds = [...Array<string>(3).fill('group'), ...Array<string>(3).fill('group_setting')];
    const made = [...kinds, 'organization', 'organization_billing', 'organization_setting'];
    expect(await leftBy(answer)).toEqual([
      ...made.map((kind) => `event ${kind}.created`),
      ...made.map((kind) => `history ${kind} created 1`),
    ]);
  });

  test('what is recorded outside of a refused request is recorded once', async () => {
    await plant(1);
    const answer = await world.client().post('/test/organizations', { name: 'refused-x', outcome: 'refuse' });
    expectProblem(answer, 'permission_denied');
    expect(await asOwner(world, `select name from organizations where name like 'refused-x%'`)).toEqual([
      { name: 'refused-x-refused' },
    ]);
  });

  test('the caller, the unit of work and its hooks are those of the last attempt', async () => {
    const member = await buildPerson(world, { organization: owner.organization, role: 'member' });
    const their = await signedIn(world, member);
    attempts.length = 0;
    hooks.length = 0;
    afterFirst = async () => {
      await asOwner(world, `update memberships set role = 'auditor' where user_id = $1`, [member.user.id]);
      throw concurrentChanges(new Error('planted'));
    };
    expect((await their.post('/test/attempts')).status).toBe(200);
    expect(attempts).toEqual(['member', 'auditor']);
    await eventually(() => hooks.length > 0);
    expect(hooks).toEqual([2]);
    // The change was made by hand, without the history that verification asks for.
    await asOwner(world, `update memberships set role = 'member' where user_id = $1`, [member.user.id]);
  });

  test('conflicts are counted by what followed', async () => {
    const { conflicts } = world.api.services.metrics;
    conflicts.reset();
    await plant(2);
    await client.post('/v1/tasks', { title: 'made at last' });
    await plant(3);
    await client.post('/v1/tasks', { title: 'never made' });
    expect((await conflicts.get()).values.map(({ labels, value }) => [labels.outcome, value])).toEqual([
      ['repeated', 4],
      ['refused', 1],
    ]);
  });

  test('a sign-in counts its attempt in a transaction of its own, so it is not repeated', async () => {
    await plant(1);
    const answer = await world.client().post('/v1/login', { username: owner.user.email, password: testPassword });
    expectProblem(answer, 'concurrent_changes');
    expect(repeatsOf(answer)).toBe(0);
  });
});

describe('concurrent changes lock records in one order', () => {
  const newTask = async (title: string, more: object = {}): Promise<string> =>
    (await client.post('/v1/tasks', { title, ...more })).body.id;

  const holding = (id: string) => holdRow(world, 'tasks', id);
  const waiting = (count: number) => waitForLocks(world, count);

  test('pairs of records that 16 clients change crosswise in one operation are all changed, and none is repeated', async () => {
    const [a, b] = [await newTask('a'), await newTask('b')];
    const pair = `mutation ($one: ID!, $other: ID!, $title: String!) {
      one: updateTask(id: $one, input: { title: $title }) { task { id } }
      ...Other
    }
    fragment Other on Mutation { other: updateTask(id: $other, input: { title: $title }) { task { id } } }`;
    const rounds = 4;
    const clients = Array.from({ length: 16 }, async (_, number) => {
      for (let round = 0; round < rounds; round++) {
        const [one, other] = number % 2 === 0 ? [a, b] : [b, a];
        const answer = await client.graphql(pair, { one, other, title: `${number} ${round}` });
        expect([answer.errors, repeatsOf(answer)]).toEqual([undefined, 0]);
      }
    });
    await Promise.all(clients);
    for (const id of [a, b])
      expect((await client.get(`/v1/tasks/${id}`)).body.record_version).toBe(1 + clients.length * rounds);
  });

  test.each([
    ['one by one', (id: string) => client.mutate({ method: 'DELETE', url: `/v1/tasks/${id}` })],
    [
      'in bulk',
      (id: string) =>
        client.graphql('mutation ($ids: [ID!]!) { deleteBulkTask(ids: $ids) { deletedIds } }', { ids: [id] }),
    ],
  ])('a deletion %s waits for a bulk change of its dependents before it holds anything', async (_name, remove) => {
    // Ids grow with time: the dependent comes first, the record that owns it last.
    const [dependent, between] = [await newTask('dependent'), await newTask('between')];
    const parent = await newTask('parent');
    await client.mutate({ method: 'PATCH', url: `/v1/tasks/${dependent}`, payload: { parent_id: parent } });
    const release = await holding(between);
    const changing = client.graphql(
      'mutation ($ids: [ID!]!) { updateBulkTask(ids: $ids, input: { priority: 7 }) { updatedIds } }',
      { ids: [parent, between, dependent] },
    );
    await waiting(1);
    const removing = remove(parent);
    await waiting(2);
    await release();
    const [changed, removed] = await Promise.all([changing, removing]);
    expect(changed.data.updateBulkTask.updatedIds).toHaveLength(3);
    expect(removed.body.errors).toBeUndefined();
    expect([repeatsOf(changed), repeatsOf(removed)]).toEqual([0, 0]);
    for (const id of [parent, dependent]) expect((await client.get(`/v1/tasks/${id}`)).status).toBe(404);
  });

  test('references wait for deletions in the order of the records', async () => {
    const tasks = [await newTask('first'), await newTask('second'), await newTask('third')];
    const [first, second, third] = tasks;
    // A scan without an index finds the first record last: a new version is stored behind the others.
    await client.mutate({ method: 'PATCH', url: `/v1/tasks/${first}`, payload: { priority: 1 } });
    const settings = ['enable_indexscan', 'enable_bitmapscan', 'enable_indexonlyscan'];
    for (const name of settings) await asOwner(world, `alter database ${world.name} set ${name} = off`);
    const scanning = (await world.openInstance()).client();
    scanning.bearer = client.cookies.get('access_token');
    const release = await holding(second as string);
    const removing = client.graphql('mutation ($ids: [ID!]!) { deleteBulkTask(ids: $ids) { deletedIds } }', {
      ids: tasks,
    });
    await waiting(1);
    const noting = scanning.graphql(
      `mutation ($first: ID!, $third: ID!) { createBulkNote(inputs: [{ text: "a", taskId: $third }, { text: "b", taskId: $first }]) { notes { id } } }`,
      { first, third },
    );
    await waiting(2);
    await release();
    const [removed, noted] = await Promise.all([removing, noting]);
    expect(removed.data.deleteBulkTask.deletedIds).toHaveLength(3);
    expectGraphqlError(noted, 'not_found');
    expect([repeatsOf(removed), repeatsOf(noted)]).toEqual([0, 0]);
    for (const name of settings) await asOwner(world, `alter database ${world.name} reset ${name}`);
  });
});

test('people sign in, and records are changed, while a transaction that takes long refers to them; they are not deleted', async () => {
  const member = await buildPerson(world, { organization: owner.organization, role: 'member' });
  const parent = (await client.post('/v1/tasks', { title: 'above', assignee_id: member.user.id })).body.id as string;
  const importing = world.runtime.database.unitOfWork({
    caller: systemCaller('test', owner.organization.id),
    requestId: newId(),
    deadline: Date.now() + 60_000,
  });
  await importing.data.create(task, { title: 'below', parentId: parent, assigneeId: member.user.id });
  await importing.flush();
  try {
    const by = await signedIn(world, member);
    const rename = { method: 'PATCH', payload: { display_name: 'Renamed' } } as const;
    expect((await by.mutate({ ...rename, url: `/v1/users/${member.user.id}` })).status).toBe(200);
    const home = `/v1/organizations/${owner.organization.id}`;
    expect((await client.mutate({ ...rename, url: home })).status).toBe(200);
    const url = `/v1/tasks/${parent}`;
    expect((await client.mutate({ method: 'PATCH', url, payload: { title: 'changed' } })).status).toBe(200);
    const bulk = `mutation { updateBulkTask(ids: ["${parent}"], input: { priority: 3 }) { updatedIds } }`;
    expect((await client.graphql(bulk)).data.updateBulkTask.updatedIds).toEqual([parent]);
    const deletion = client.mutate({ method: 'DELETE', url });
    await waitForLocks(world, 1);
    await importing.commit();
    expect((await deletion).status).toBe(204);
    expect(await asOwner(world, 'select 1 from tasks where parent_id = $1 and deleted_at is null', [parent])).toEqual(
      [],
    );
  } finally {
    await importing.rollback();
  }
});

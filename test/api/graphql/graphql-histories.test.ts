import { Client } from 'pg';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { membership } from '#entities/index.ts';
import { callerOf, systemCaller } from '#entities/kit/model/caller.ts';
import { newId } from '#entities/kit/base/ids.ts';
import { asOwner } from '../../kit/as-owner.ts';
import { expectGraphqlError } from '../../kit/graphql-error.ts';
import { buildPerson, signedIn, type Person } from '../../kit/people.ts';
import type { TestClient } from '../../kit/test-client.ts';
import { requestStatements } from '../../kit/request-statements.ts';
import { openWorld, type World } from '../../kit/world.ts';

let world: World;
let owner: Person;
let client: TestClient;
let member: Person;
let memberClient: TestClient;
let strangerClient: TestClient;
const statements: string[] = [];

beforeAll(async () => {
  world = await openWorld({ observers: [requestStatements(statements)] });
  owner = await buildPerson(world);
  client = await signedIn(world, owner);
  member = await buildPerson(world, { organization: owner.organization, role: 'member' });
  memberClient = await signedIn(world, member);
  strangerClient = await signedIn(world, await buildPerson(world));
});
afterAll(() => world.close());

const histories = `query ($where: TaskHistoryWhere, $first: Int, $after: String) {
  taskHistories(where: $where, first: $first, after: $after) { totalCount pageInfo { hasNextPage endCursor }
    edges { node { __typename id recordId operation recordVersion changedFields actor requestId recordedAt
      title status priority dueAt tags assigneeId } } } }`;

async function createTask(by: TestClient, input: object): Promise<string> {
  const { data, errors } = await by.graphql(
    'mutation ($input: CreateTaskInput!) { createTask(input: $input) { task { id } } }',
    { input },
  );
  expect(errors).toBeUndefined();
  return data.createTask.task.id;
}

const update = (id: string, input: object) =>
  client.graphql(
    'mutation ($id: ID!, $input: UpdateTaskInput!) { updateTask(id: $id, input: $input) { task { id } } }',
    { id, input },
  );
const remove = (id: string) => client.graphql('mutation ($id: ID!) { deleteTask(id: $id) { deletedId } }', { id });

async function entriesOf(by: TestClient, recordId: string) {
  const { data, errors } = await by.graphql(histories, { where: { recordId: { eq: recordId } } });
  expect(errors).toBeUndefined();
  expect(data.taskHistories.totalCount).toBe(data.taskHistories.edges.length);
  return data.taskHistories.edges.map(({ node }: { node: Record<string, unknown> }) => node);
}

describe('the history of a record', () => {
  test('tells every change with what the record held afterwards, in one statement', async () => {
    const id = await createTask(client, { title: 'first', tags: ['a'], dueAt: '2030-01-31T12:00:00Z' });
    const { headers } = await update(id, {
      title: 'second',
      status: 'COMPLETED',
      tags: [],
      dueAt: null,
      assigneeId: member.user.id,
    });
    await remove(id);
    statements.length = 0;
    const [created, updated, deleted] = await entriesOf(client, id);
    expect(statements.filter((text) => text.includes('row_to_json'))).toHaveLength(1);
    expect(created).toMatchObject({
      __typename: 'TaskHistory',
      recordId: id,
      operation: 'CREATED',
      recordVersion: 1,
      actor: `user:${owner.user.id}`,
      recordedAt: expect.stringMatching(/^\d{4}-.*Z$/),
      title: 'first',
      status: 'OPEN',
      priority: 0,
      dueAt: '2030-01-31T12:00:00.000Z',
      tags: ['a'],
      assigneeId: null,
    });
    expect(created.changedFields.toSorted()).toEqual([
      'assignerId',
      'displayId',
      'dueAt',
      'externalUrls',
      'priority',
      'status',
      'tags',
      'title',
    ]);
    expect(updated).toMatchObject({
      operation: 'UPDATED',
      recordVersion: 2,
      requestId: headers['x-request-id'],
      title: 'second',
      status: 'COMPLETED',
      dueAt: null,
      tags: [],
      assigneeId: member.user.id,
    });
    expect(updated.changedFields.toSorted()).toEqual(['assigneeId', 'completedAt', 'dueAt', 'status', 'tags', 'title']);
    expect(deleted).toMatchObject({ operation: 'DELETED', recordVersion: 3, changedFields: [] });
  });

  test('goes in pages, and is filtered and ordered by what every entry has', async () => {
    const id = await createTask(client, { title: 'v1' });
    for (const title of ['v2', 'v3', 'v4']) await update(id, { title });
    const where = { recordId: { eq: id } };
    const seen: number[] = [];
    const page = async (after: string | null): Promise<string | null> => {
      const { data } = await client.graphql(histories, { where, first: 3, after });
      const { edges, pageInfo } = data.taskHistories;
      seen.push(...edges.map(({ node }: { node: { recordVersion: number } }) => node.recordVersion));
      return pageInfo.hasNextPage ? pageInfo.endCursor : null;
    };
    for (let after = await page(null); after !== null;) after = await page(after);
    expect(seen).toEqual([1, 2, 3, 4]);
    const ask = async (rest: string) =>
      (await client.graphql(`{ taskHistories(${rest}) { edges { node { title } } } }`)).data.taskHistories.edges.map(
        ({ node }: { node: { title: string } }) => node.title,
      );
    const about = `recordId: { eq: "${id}" }`;
    expect(await ask(`where: { ${about}, operation: { eq: CREATED } }`)).toEqual(['v1']);
    expect(await ask(`where: { ${about}, actor: { eq: "user:${member.user.id}" } }`)).toEqual([]);
    expect(await ask(`where: { ${about} }, orderBy: [{ field: RECORDED_AT, direction: DESC }], first: 1`)).toEqual([
      'v4',
    ]);
    expect(await ask(`where: { ${about}, recordedAt: { lt: "2020-01-01T00:00:00Z" } }`)).toEqual([]);
    expectGraphqlError(await client.graphql(histories, { where: { title: { eq: 'v1' } } }), 'invalid_input');
    expectGraphqlError(await client.graphql(histories, { after: 'x' }), 'invalid_cursor');
  });

  test('shows nothing of fields that are not shown', async () => {
    const { data } = await client.graphql(
      `{ userHistories(where: { recordId: { eq: "${owner.user.id}" } }) { edges { node { email changedFields } } } }`,
    );
    const [{ node }] = data.userHistories.edges;
    expect(node.email).toBe(owner.user.email);
    expect(node.changedFields).toContain('email');
    expect(node.changedFields).not.toContain('passwordHash');
    const { data: schema } = await client.graphql('{ __type(name: "UserHistory") { fields { name } } }');
    expect(JSON.stringify(schema)).not.toContain('passwordHash');
  });
});

describe('who sees a history', () => {
  test('is who sees the record now, not who saw it then', async () => {
    const id = await createTask(client, { title: 'hidden' });
    expect(await entriesOf(client, id)).toHaveLength(1);
    for (const other of [memberClient, strangerClient]) expect(await entriesOf(other, id)).toEqual([]);
    await update(id, { assigneeId: member.user.id });
    expect(await entriesOf(memberClient, id)).toHaveLength(2);
    await update(id, { assigneeId: null });
    expect(await entriesOf(memberClient, id)).toEqual([]);
  });

  test('is, after the deletion, who sees the record it hung on, and who looks after the organization', async () => {
    const parentId = await createTask(client, { title: 'above', assigneeId: member.user.id });
    const id = await createTask(client, { title: 'below', parentId });
    const alone = await createTask(memberClient, { title: 'alone' });
    await remove(id);
    await remove(alone);
    const auditor = await signedIn(
      world,
      await buildPerson(world, { organization: owner.organization, role: 'auditor' }),
    );
    // People can be kept from tasks, so what a task hung on says nothing when it is gone; of notes it does.
    expect(await entriesOf(memberClient, id)).toEqual([]);
    const note = (await client.post('/v1/notes', { text: 'about it', task_id: parentId })).body.id as string;
    await client.mutate({ method: 'DELETE', url: `/v1/notes/${note}` });
    const ofNote = `{ noteHistories(where: { recordId: { eq: "${note}" } }) { totalCount } }`;
    expect((await memberClient.graphql(ofNote)).data.noteHistories.totalCount).toBe(2);
    // Whoever made it sees it no more when it is gone and hung on nothing.
    expect(await entriesOf(memberClient, alone)).toEqual([]);
    for (const other of [client, auditor])
      for (const recordId of [id, alone]) expect(await entriesOf(other, recordId)).toHaveLength(2);
    await remove(parentId);
    expect(await entriesOf(memberClient, id)).toEqual([]);
    expect(await entriesOf(auditor, id)).toHaveLength(2);
    expect(await entriesOf(strangerClient, id)).toEqual([]);
  });

  test('of people are they themselves, and of an organization its members', async () => {
    const ask = async (by: TestClient) => {
      const { data } = await by.graphql(
        `{ userHistories { edges { node { recordId } } } organizationHistories { edges { node { recordId } } } }`,
      );
      const ids = (name: string) => [
        ...new Set(data[name].edges.map(({ node }: { node: { recordId: string } }) => node.recordId)),
      ];
      return [ids('userHistories'), ids('organizationHistories')];
    };
    expect(await ask(client)).toEqual([[owner.user.id], [owner.organization.id]]);
    expect(await ask(memberClient)).toEqual([[member.user.id], [owner.organization.id]]);
  });

  test('shows entries of the own organization only, by row-level security, whatever is asked', async () => {
    const { database } = world.runtime;
    const caller = callerOf({
      kind: 'user',
      subjectId: owner.user.id,
      organizationId: owner.organization.id,
      role: 'owner',
    });
    const unit = database.unitOfWork({ caller, requestId: newId() });
    const session = await unit.readAs('app');
    const { rows } = await session.query<{ organizationId: string; kind: string; id: string }>(
      'select distinct organization_id as "organizationId", entity_kind as kind, entity_id as id from history',
    );
    expect(rows.length).toBeGreaterThan(0);
    for (const row of rows)
      if (row.organizationId !== owner.organization.id) expect([row.kind, row.id]).toEqual(['user', owner.user.id]);
    await expect(session.query(`update history set actor = 'x'`)).rejects.toMatchObject({ code: 'permission_denied' });
    await unit.rollback();
  });

  test('cannot be gone around by the names of partitions, old ones or new ones', async () => {
    await asOwner(
      world,
      `select maintain_partitions(now() + interval '30 days', interval '90 days', interval '10 years')`,
    );
    const partitions = await asOwner<{ name: string }>(
      world,
      `select c.relname as name from pg_inherits i join pg_class c on c.oid = i.inhrelid
       where i.inhparent in ('history'::regclass, 'events'::regclass, 'event_deliveries'::regclass)`,
    );
    expect(partitions.length).toBeGreaterThan(6);
    const connection = new Client({ connectionString: world.databaseUrl });
    await connection.connect();
    for (const role of ['core_app', 'core_system']) {
      await connection.query(`set role ${role}`);
      for (const { name } of partitions)
        await expect(connection.query(`select 1 from ${name}`), `${role} ${name}`).rejects.toMatchObject({
          code: '42501',
        });
    }
    await connection.end();
  });
});

test('the history of what left with a membership is there as well', async () => {
  const guest = await buildPerson(world);
  const asServer = { caller: systemCaller('test'), requestId: newId() };
  const joined = await world.runtime.database.transact(asServer, ({ data }) =>
    data.create(membership, { organizationId: owner.organization.id, userId: guest.user.id, role: 'member' }),
  );
  const { data } = await client.graphql('mutation { createGroup(input: { name: "left" }) { group { id } } }');
  const groupId: string = data.createGroup.group.id;
  await client.graphql(
    'mutation ($input: CreateGroupMembershipInput!) { createGroupMembership(input: $input) { groupMembership { id } } }',
    { input: { groupId, userId: guest.user.id } },
  );
  await world.runtime.database.transact({ ...asServer, requestId: newId() }, ({ data }) =>
    data.remove(membership, joined.id),
  );
  const answer = await client.graphql(
    '{ groupMembershipHistories { edges { node { operation groupId userId } } } membershipHistories(where: { operation: { eq: DELETED } }) { edges { node { recordId } } } }',
  );
  const entries = answer.data.groupMembershipHistories.edges.map(({ node }: { node: { groupId: string } }) => node);
  // Not those of managed groups.
  expect(entries.filter((entry: { groupId: string }) => entry.groupId === groupId)).toEqual([
    { operation: 'CREATED', groupId, userId: guest.user.id },
    { operation: 'DELETED', groupId, userId: guest.user.id },
  ]);
  expect(answer.data.membershipHistories.edges).toEqual([{ node: { recordId: joined.id } }]);
});

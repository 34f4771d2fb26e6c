import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { task } from '#entities/index.ts';
import { isId, newId } from '#entities/kit/base/ids.ts';
import { asOwner } from '../../kit/as-owner.ts';
import { asPerson } from '../../kit/as-person.ts';
import { eventually } from '../../kit/eventually.ts';
import { expectGraphqlError } from '../../kit/graphql-error.ts';
import { buildPerson, signedIn, type Person } from '../../kit/people.ts';
import type { TestClient } from '../../kit/test-client.ts';
import { requestStatements } from '../../kit/request-statements.ts';
import { uploadBy } from '../../kit/files/uploaded-file.ts';
import { openWorld, type World } from '../../kit/world.ts';

let world: World;
let owner: Person;
let member: Person;
let client: TestClient;
let reader: TestClient;
let foreignTask: string;
const statements: string[] = [];

beforeAll(async () => {
  world = await openWorld({ observers: [requestStatements(statements)] });
  owner = await buildPerson(world);
  member = await buildPerson(world, { organization: owner.organization, role: 'member' });
  client = await signedIn(world, owner);
  reader = await signedIn(world, member);
  const stranger = await signedIn(world, await buildPerson(world));
  const [id] = await created(stranger, [{ title: 'theirs' }]);
  foreignTask = id ?? '';
});
afterAll(() => world.close());

const createBulk = `mutation ($inputs: [CreateTaskInput!]!) { createBulkTask(inputs: $inputs) { tasks { id title } } }`;
const updateBulk = `mutation ($ids: [ID!]!, $input: UpdateTaskInput!) { updateBulkTask(ids: $ids, input: $input) {
  tasks { id title priority recordVersion tags } updatedIds notUpdated { id code message } } }`;
const deleteBulk = `mutation ($ids: [ID!]!) { deleteBulkTask(ids: $ids) { deletedIds notDeleted { id code message } } }`;
const createCsv = `mutation ($csv: String!) { createBulkCSVTask(csv: $csv) { tasks { title details status priority dueAt tags } } }`;
const createGroup = `mutation ($input: CreateGroupInput!) { createGroup(input: $input) { group {
  id groupMemberships { edges { node { userId role } } } } } }`;

async function created(by: TestClient, inputs: readonly object[]): Promise<string[]> {
  const { data, errors } = await by.graphql(createBulk, { inputs });
  expect(errors).toBeUndefined();
  return data.createBulkTask.tasks.map(({ id }: { id: string }) => id);
}

const titles = (count: number) => Array.from({ length: count }, (_none, place) => ({ title: `task ${place}` }));
const countOf = async (table: string) =>
  (await asOwner<{ count: number }>(world, `select count(*)::int as count from ${table}`))[0]?.count;
const everything = () =>
  Promise.all(['tasks', 'groups', 'group_memberships', 'notes', 'history', 'events'].map(countOf));

/** Statements of an operation, without the frame of its transaction and what the relay does with its tuples. */
async function sentBy(work: () => Promise<unknown>): Promise<string[]> {
  statements.length = 0;
  await work();
  return statements.filter((text) => !/^(begin|commit|set local)|desired_tuples|set_config/.test(text));
}

describe('many creations', () => {
  test('answer in their order, with history and events of each', async () => {
    const ids = await created(client, titles(5));
    expect(await asOwner(world, 'select title from tasks where id = any($1) order by title', [ids])).toEqual(titles(5));
    expect(
      await asOwner(
        world,
        `select count(*)::int as count from events where topic = 'task.created' and entity_id = any($1)`,
        [ids],
      ),
    ).toEqual([{ count: 5 }]);
  });

  test('take as many statements as few, and no more than a thousand rows', async () => {
    const input = (place: number) => ({ title: `task ${place}`, assigneeId: member.user.id });
    const few = await sentBy(() => created(client, [0, 1].map(input)));
    const many = await sentBy(() =>
      created(
        client,
        Array.from({ length: 200 }, (_none, place) => input(place)),
      ),
    );
    expect(many.length).toBe(few.length);
    const answer = await client.graphql(createBulk, { inputs: titles(1_001) });
    expectGraphqlError(answer, 'limit_exceeded');
    expect(answer.errors[0].extensions.errors).toMatchObject([{ path: '/inputs' }]);
    // The limit is that of the operation, over all its fields.
    const twice = `mutation ($inputs: [CreateTaskInput!]!) {
      a: createBulkTask(inputs: $inputs) { tasks { id } } b: createBulkTask(inputs: $inputs) { tasks { id } } }`;
    expectGraphqlError(await client.graphql(twice, { inputs: titles(501) }), 'limit_exceeded');
  });

  test.each([
    ['deletions', 'deleteBulkTask(ids: $ids) { deletedIds }', newId],
    ['changes', 'updateBulkTask(ids: $ids, input: { priority: 1 }) { updatedIds }', newId],
    ['what are no ids', 'deleteBulkTask(ids: $ids) { notDeleted { id } }', () => `no id ${newId()}`],
  ])('the limit of a thousand is that of the operation: %s in two fields', async (_what, field, id) => {
    const ids = Array.from({ length: 501 }, id);
    const twice = `mutation ($ids: [ID!]!) { a: ${field} b: ${field} }`;
    expectGraphqlError(await client.graphql(twice, { ids }), 'limit_exceeded');
  });

  test('so it is of single changes, and of what the server does for the caller', async () => {
    const ids = Array.from({ length: 1_000 }, newId);
    const many = 'deleteBulkTask(ids: $ids) { deletedIds }';
    const [id = ''] = await created(client, titles(1));
    for (const one of [
      `updateTask(id: "${id}", input: { priority: 2 }) { task { id } }`,
      'createOrganization(input: { name: "one more" }) { organization { id } }',
    ])
      expectGraphqlError(await client.graphql(`mutation ($ids: [ID!]!) { ${many} ${one} }`, { ids }), 'limit_exceeded');
  });

  test('what is sent to be repeated is cut short', async () => {
    const { data } = await client.graphql(deleteBulk, { ids: ['x'.repeat(100_000)] });
    const [refused] = data.deleteBulkTask.notDeleted;
    expect(refused).toMatchObject({ id: `${'x'.repeat(64)}…`, code: 'not_found' });
    expect(refused.message.length).toBeLessThan(200);
  });

  test.each<[string, () => object, string, string]>([
    ['a wrong value', () => ({ title: 'a', priority: 1_000 }), 'invalid_input', '/3/priority'],
    ['a missing value', () => ({ title: '' }), 'invalid_input', '/3/title'],
    ['a reference to nothing', () => ({ title: 'a', parentId: newId() }), 'not_found', '/3/parentId'],
    ['a reference to another organization', () => ({ title: 'a', parentId: foreignTask }), 'not_found', '/3/parentId'],
  ])('are none when one has %s, which is named by its row', async (_about, wrong, code, path) => {
    const before = await everything();
    const answer = await client.graphql(createBulk, { inputs: [...titles(3), wrong(), ...titles(2)] });
    expectGraphqlError(answer, code as 'invalid_input');
    expect(answer.errors[0].extensions.errors.map((problem: { path: string }) => problem.path)).toEqual([path]);
    expect(answer.errors[0].message).toContain('row 4: ');
    expect(answer.errors[0].message).not.toContain('3/');
    expect(await everything()).toEqual(before);
  });

  test('name the rows whose unique values are taken', async () => {
    const make = (names: string[]) =>
      client.graphql('mutation ($inputs: [CreateTagInput!]!) { createBulkTag(inputs: $inputs) { tags { name } } }', {
        inputs: names.map((name) => ({ name })),
      });
    expect((await make(['one', 'two'])).data.createBulkTag.tags).toEqual([{ name: 'one' }, { name: 'two' }]);
    const answer = await make(['three', 'two', 'three']);
    expectGraphqlError(answer, 'already_exists');
    expect(answer.errors[0].message).toMatch(/^row [23]: This tag already exists: "(two|three)"\.$/);
    expect(answer.errors[0].extensions.errors.map(({ path }: { path: string }) => path).toSorted()).toEqual([
      '/1/name',
      '/2/name',
    ]);
  });
});

describe('many changes', () => {
  test('change what may be changed and tell the rest', async () => {
    const own = await created(reader, [{ title: 'mine' }]);
    const seen = await created(client, [{ title: 'shown', assignerId: owner.user.id, assigneeId: member.user.id }]);
    const ids = [...own, 'x', foreignTask, newId(), 'y', ...own];
    const { data } = await reader.graphql(updateBulk, { ids, input: { priority: 7 } });
    expect(data.updateBulkTask.tasks).toEqual([{ id: own[0], title: 'mine', priority: 7, recordVersion: 2, tags: [] }]);
    expect(data.updateBulkTask.updatedIds).toEqual(own);
    expect(data.updateBulkTask.notUpdated).toEqual(
      ids.slice(1, 5).map((id) => ({
        id,
        code: 'not_found',
        message: `There is no Task "${id}"${isId(id) ? ' in the organization in which you act.' : '. This is not an id.'}`,
      })),
    );
    // An assignee changes a task and does not delete it.
    const removal = await reader.graphql(deleteBulk, { ids: [...seen, ...own] });
    expect(removal.data.deleteBulkTask).toEqual({
      deletedIds: own,
      notDeleted: [
        { id: seen[0], code: 'permission_denied', message: expect.stringContaining('You may not remove this Task.') },
      ],
    });
  });

  test('are recorded one by one, and those that change nothing not at all', async () => {
    const ids = await created(client, [{ title: 'a', tags: ['x', 'y'] }, { title: 'b' }]);
    const { headers, data } = await client.graphql(updateBulk, { ids, input: { tags: ['x', 'y'], dueAt: null } });
    expect(data.updateBulkTask.tasks.map(({ recordVersion }: { recordVersion: number }) => recordVersion)).toEqual([
      1, 2,
    ]);
    const requestId = headers['x-request-id'];
    expect(
      await asOwner(
        world,
        `select entity_id as id, record_version as version, changed_fields as changed, snapshot -> 'tags' as tags from history where request_id = $1`,
        [requestId],
      ),
    ).toEqual([{ id: ids[1], version: 2, changed: ['tags'], tags: ['x', 'y'] }]);
    expect(
      await asOwner(world, 'select topic, entity_id as id from events where request_id = $1', [requestId]),
    ).toEqual([{ topic: 'task.updated', id: ids[1] }]);
  });

  test('take as many statements as one, and no more than a thousand rows', async () => {
    const ids = await created(client, titles(200));
    const change = (some: string[], title: string) =>
      sentBy(() => client.graphql(updateBulk, { ids: some, input: { title } }));
    const [one, all] = [await change(ids.slice(0, 1), 'x'), await change(ids, 'y')];
    expect(all.length).toBe(one.length);
    for (const mutation of [updateBulk, deleteBulk]) {
      const many = Array.from({ length: 1_001 }, () => newId());
      const answer = await client.graphql(mutation, { ids: many, input: { title: 'z' } });
      expectGraphqlError(answer, 'limit_exceeded');
      expect(answer.errors[0].extensions.errors).toMatchObject([{ path: '/ids' }]);
    }
    const removal = await client.graphql(deleteBulk, { ids });
    expect(removal.data.deleteBulkTask.deletedIds).toEqual(ids);
  });

  test('are checked like one', async () => {
    const ids = await created(client, titles(2));
    for (const input of [{ title: '' }, { title: null }, { priority: -1 }])
      expectGraphqlError(await client.graphql(updateBulk, { ids, input }), 'invalid_input');
    for (const parentId of [foreignTask, newId()])
      expectGraphqlError(await client.graphql(updateBulk, { ids, input: { parentId } }), 'not_found');
    const circle = await client.graphql(updateBulk, { ids, input: { parentId: ids[0] } });
    expect(circle.data.updateBulkTask.updatedIds).toEqual([ids[1]]);
    expect(circle.data.updateBulkTask.notUpdated).toEqual([
      { id: ids[0], code: 'invalid_input', message: 'The Task would be part of itself.' },
    ]);
  });

  test('see what the same operation did before, and are undone with it', async () => {
    const [id = ''] = await created(client, [{ title: 'first' }]);
    const before = await everything();
    const answer = await client.graphql(
      `mutation ($id: ID!) {
        a: updateTask(id: $id, input: { title: "second" }) { task { recordVersion } }
        b: updateBulkTask(ids: [$id], input: { priority: 3 }) { tasks { title recordVersion } }
        c: updateTask(id: $id, input: { title: "third" }) { task { priority recordVersion } } }`,
      { id },
    );
    expect(answer.data).toEqual({
      a: { task: { recordVersion: 2 } },
      b: { tasks: [{ title: 'second', recordVersion: 3 }] },
      c: { task: { priority: 3, recordVersion: 4 } },
    });
    const later = await everything();
    expect(later).not.toEqual(before);
    const failed = await client.graphql(
      `mutation ($id: ID!) { deleteBulkTask(ids: [$id]) { deletedIds } updateTask(id: $id, input: { title: "x" }) { task { id } } }`,
      { id },
    );
    expectGraphqlError(failed, 'not_found');
    expect(await everything()).toEqual(later);
  });

  test('of a deletion take along what hangs on the records', async () => {
    const ids = await created(client, titles(2));
    const below = await created(client, [{ title: 'below', parentId: ids[0] }]);
    const note = await client.graphql(
      'mutation ($id: ID!) { createNote(input: { text: "a", taskId: $id }) { note { id } } }',
      { id: below[0] },
    );
    await client.graphql(deleteBulk, { ids });
    const noteId = note.data.createNote.note.id;
    expect(
      await asOwner(
        world,
        `select id from tasks where id = any($1) and deleted_at is null union all select id from notes where id = $2 and deleted_at is null`,
        [[...ids, ...below], noteId],
      ),
    ).toEqual([]);
    const late = await client.graphql(deleteBulk, { ids });
    expect(late.data.deleteBulkTask).toMatchObject({
      deletedIds: [],
      notDeleted: [{ code: 'not_found' }, { code: 'not_found' }],
    });
  });
});

describe('a creation with what hangs on it', () => {
  test('makes all of it', async () => {
    const people = [owner, member].map(({ user }) => ({ userId: user.id }));
    const input = { name: 'with people', createGroupMemberships: [{ ...people[0], role: 'ADMIN' }, people[1]] };
    const { data, errors } = await client.graphql(createGroup, { input });
    expect(errors).toBeUndefined();
    expect(data.createGroup.group.groupMemberships.edges.map(({ node }: { node: object }) => node)).toEqual([
      { ...people[0], role: 'ADMIN' },
      { ...people[1], role: 'MEMBER' },
    ]);
    const task = await client.graphql(
      `mutation { createTask(input: { title: "noted", createNotes: [{ text: "a" }, { text: "b" }] }) { task { notes { totalCount } } } }`,
    );
    expect(task.data.createTask.task.notes.totalCount).toBe(2);
  });

  test('is nothing when one of it is refused, which is named by its path', async () => {
    const before = await everything();
    const stranger = newId();
    const refused = async (input: object, code: string, path: string) => {
      const answer = await client.graphql(createGroup, { input });
      expectGraphqlError(answer, code as 'invalid_input');
      expect(answer.errors[0].extensions.errors.map((problem: { path: string }) => problem.path)).toEqual([path]);
    };
    const members = (...userIds: string[]) => userIds.map((userId) => ({ userId }));
    await refused({ name: 'a', createGroupMemberships: members(owner.user.id) }, 'invalid_input', '/name');
    await refused(
      { name: 'ab', createGroupMemberships: members('x') },
      'invalid_input',
      '/createGroupMemberships/0/userId',
    );
    await refused(
      { name: 'ab', createGroupMemberships: members(owner.user.id, stranger) },
      'not_found',
      '/createGroupMemberships/1/userId',
    );
    expect(await everything()).toEqual(before);
  });

  const createTree = `mutation ($input: CreateTaskInput!) { createTask(input: $input) { task {
    id subtasks { edges { node { title assigneeId subtasks { edges { node {
      title assigneeId shares { totalCount } files { edges { node { name } } } } } } } } } } } }`;
  /** Tasks one in the other, so many. */
  const nested = (levels: number): object =>
    Array.from({ length: levels - 1 }).reduce<object>((below) => ({ title: 'above', createSubtasks: [below] }), {
      title: 'last',
    });

  test('goes further down, with what may be moved later', async () => {
    const assigneeId = member.user.id;
    const groups = await client.graphql(createGroup, { input: { name: 'sees it' } });
    const createShares = [{ groupId: groups.data.createGroup.group.id, relation: 'VIEWER' }];
    const lowest = {
      title: 'lowest',
      assigneeId,
      createShares,
      createFiles: [{ name: 'a.txt', content: await uploadBy(world, owner) }],
    };
    const createSubtasks = [{ title: 'first', assigneeId, createSubtasks: [lowest] }, { title: 'second' }];
    const { data, errors } = await client.graphql(createTree, { input: { title: 'top', createSubtasks } });
    expect(errors).toBeUndefined();
    const found = {
      title: 'lowest',
      assigneeId,
      shares: { totalCount: 1 },
      files: { edges: [{ node: { name: 'a.txt' } }] },
    };
    expect(data.createTask.task.subtasks.edges).toEqual([
      { node: { title: 'first', assigneeId, subtasks: { edges: [{ node: found }] } } },
      { node: { title: 'second', assigneeId: null, subtasks: { edges: [] } } },
    ]);
  });

  test('names what is wrong far below, and is undone whole', async () => {
    const before = await everything();
    const second = (wrong: object) => [{ title: 'a', createSubtasks: [{ title: 'b' }, { title: 'c', ...wrong }] }];
    for (const [wrong, code, path] of [
      [{ title: ' ' }, 'invalid_input', 'title'],
      [{ assigneeId: newId() }, 'not_found', 'assigneeId'],
      [{ createFiles: [{ name: '', content: newId() }] }, 'invalid_input', 'createFiles/0/name'],
      [{ createShares: [{ groupId: newId(), relation: 'VIEWER' }] }, 'not_found', 'createShares/0/groupId'],
    ] as const) {
      const answer = await client.graphql(
        `mutation ($input: CreateTaskInput!) { a: createTask(input: { title: "before" }) { task { id } }
          b: createTask(input: $input) { task { id } } }`,
        { input: { title: 'top', createSubtasks: second(wrong) } },
      );
      expectGraphqlError(answer, code);
      const place = `/createSubtasks/0/createSubtasks/1/${path}`;
      expect(answer.errors[0].extensions.errors.map((problem: { path: string }) => problem.path)).toEqual([place]);
    }
    expect(await everything()).toEqual(before);
  });

  test('makes no hierarchy of more than twenty levels, with those above it', async () => {
    const refused = async (input: object, path: string) => {
      const answer = await client.graphql(createTree, { input });
      expectGraphqlError(answer, 'invalid_input');
      expect(answer.errors[0].extensions.errors).toEqual([
        { path, message: 'The Task would lie deeper than 20 levels.' },
      ]);
    };
    const before = await everything();
    await refused(nested(21), '/createSubtasks/0'.repeat(20));
    expect(await everything()).toEqual(before);
    const { data } = await client.graphql(createTree, { input: nested(2) });
    const parentId = data.createTask.task.id;
    await refused({ ...nested(20), parentId }, '/parentId');
    expect((await client.graphql(createTree, { input: { ...nested(19), parentId } })).errors).toBeUndefined();
    expect((await client.graphql(createTree, { input: nested(20) })).errors).toBeUndefined();
  });

  test('asks for the right to create each of it', async () => {
    const auditor = await signedIn(
      world,
      await buildPerson(world, { organization: owner.organization, role: 'auditor' }),
    );
    const before = await everything();
    const input = { title: 'a', createSubtasks: [{ title: 'b', createFiles: [{ name: 'c', content: newId() }] }] };
    expectGraphqlError(await auditor.graphql(createTree, { input }), 'permission_denied');
    expect(await everything()).toEqual(before);
  });

  const waitingFor = `select 1 from pg_locks where locktype = 'advisory' and not granted`;
  const idOf = async (title: string) =>
    (await asOwner<{ id: string }>(world, 'select id from tasks where title = $1 order by id desc limit 1', [title]))[0]
      ?.id ?? '';

  test('waits for a record above it that is being moved, and then goes no deeper', async () => {
    const made = async (input: object) => (await client.graphql(createTree, { input })).data.createTask.task;
    const top = await made(nested(2));
    const moved = await made({ title: 'moved', createSubtasks: [{ title: 'below' }] });
    const lowest = await idOf('last');
    const parentId = await idOf('below');
    const input = { ...nested(17), parentId };
    const creation = await asPerson(world, owner, owner.organization.id, async (data) => {
      await data.update(task, moved.id, { parentId: lowest });
      await data.findOne(task, { id: { eq: top.id } });
      let isAnswered = false;
      const answer = client.graphql(createTree, { input }).finally(() => (isAnswered = true));
      await eventually(async () => isAnswered || (await asOwner(world, waitingFor)).length > 0);
      return { answer };
    });
    expectGraphqlError(await creation.answer, 'invalid_input');
  });

  test('counts all of it against the limit', async () => {
    const createNotes = Array.from({ length: 1_000 }, () => ({ text: 'a' }));
    const createSubtasks = Array.from({ length: 10 }, () => ({ title: 'a', createSubtasks: titles(99) }));
    expectGraphqlError(await client.graphql(createTree, { input: { title: 'a', createSubtasks } }), 'limit_exceeded');
    expectGraphqlError(await client.graphql(createBulk, { inputs: [{ title: 'a', createNotes }] }), 'limit_exceeded');
  });
});

describe('creations with skipRefused', () => {
  const skipping = `mutation ($inputs: [CreateTaskInput!]!) { createBulkTask(inputs: $inputs, skipRefused: true) {
    tasks { title } notCreated { index code message } } }`;

  test('make the records of the inputs that are right, and say what is wrong with the others', async () => {
    await created(client, [{ title: 'taken', externalId: 'taken' }]);
    const inputs = [
      { title: 'first' },
      { title: ' ' },
      { title: 'third', externalId: 'taken' },
      { title: 'fourth', parentId: foreignTask, priority: 101 },
      { title: 'fifth', parentId: foreignTask },
      { title: 'sixth', createSubtasks: [{ title: 'below' }] },
      { title: 'seventh', createSubtasks: [{ title: '' }] },
    ];
    const { data, errors } = await client.graphql(skipping, { inputs });
    expect(errors).toBeUndefined();
    expect(data.createBulkTask).toEqual({
      tasks: [{ title: 'first' }, { title: 'sixth' }],
      notCreated: [
        { index: 1, code: 'invalid_input', message: 'title must not be empty' },
        { index: 2, code: 'already_exists', message: 'There is a task with this external id: "taken".' },
        { index: 3, code: 'invalid_input', message: 'priority must be at most 100; it is 101' },
        {
          index: 4,
          code: 'not_found',
          message: `There is no Task "${foreignTask}" in the organization in which you act.`,
        },
        { index: 6, code: 'invalid_input', message: 'createSubtasks/0/title must not be empty' },
      ],
    });
  });

  test('count against the limit once, however often they are tried', async () => {
    const inputs = Array.from({ length: 1_000 }, (_none, index) => ({ title: index % 2 === 0 ? `even ${index}` : '' }));
    const { data, errors } = await client.graphql(skipping, { inputs });
    expect(errors).toBeUndefined();
    expect(data.createBulkTask.tasks).toHaveLength(500);
    expect(data.createBulkTask.notCreated).toHaveLength(500);
  });

  test('are tried a few times, however many inputs and values are wrong', async () => {
    const wrong = { title: '', priority: 101, externalId: '', parentId: 'x', assigneeId: 'x', tags: [''], status: 'x' };
    const creations = Array.from({ length: 1_000 }, (_none, index) => ({
      module: task,
      input: index === 999 ? { title: 'right' } : wrong,
      path: `/${index}`,
    }));
    let attempts = 0;
    const { created: made, refused } = await asPerson(world, owner, owner.organization.id, (data) =>
      data.createEach(creations, async () => void attempts++),
    );
    expect([made.length, refused.length]).toEqual([1, 999]);
    expect(attempts).toBe(1);
  });

  test('are refused as a whole for what is wrong with none of them', async () => {
    const auditor = await signedIn(
      world,
      await buildPerson(world, { organization: owner.organization, role: 'auditor' }),
    );
    const before = await everything();
    expectGraphqlError(await auditor.graphql(skipping, { inputs: titles(2) }), 'permission_denied');
    expect(await everything()).toEqual(before);
  });
});

describe('CSV', () => {
  const told = async (csv: string): Promise<string[]> => {
    const answer = await client.graphql(createCsv, { csv });
    expectGraphqlError(answer, 'invalid_input', csv);
    return answer.errors[0].extensions.errors.map(({ message }: { message: string }) => message);
  };

  test('is read by its header, in any case and order', async () => {
    const csv =
      '\ufeffdue_at,TITLE,Details,Status,priority,tags\r\n2030-01-31T12:00:00Z,"one, ""quoted""","two\r\nlines",IN_PROGRESS,3,a; b\r\n,two,,,,\r\n';
    const { data, errors } = await client.graphql(createCsv, { csv });
    expect(errors).toBeUndefined();
    expect(data.createBulkCSVTask.tasks).toEqual([
      {
        title: 'one, "quoted"',
        details: 'two\r\nlines',
        status: 'IN_PROGRESS',
        priority: 3,
        dueAt: '2030-01-31T12:00:00.000Z',
        tags: ['a', 'b'],
      },
      { title: 'two', details: null, status: 'OPEN', priority: 0, dueAt: null, tags: [] },
    ]);
  });

  test('ends its lines in any way, also in several', async () => {
    const { data } = await client.graphql(createCsv, { csv: 'title\r\none\ntwo\rthree\n' });
    expect(data.createBulkCSVTask.tasks.map(({ title }: { title: string }) => title)).toEqual(['one', 'two', 'three']);
  });

  test.each<[string, string, string[]]>([
    ['an unknown column', 'title,owner\na,b\n', ['line 1, column "owner": is not a known column']],
    ['a missing column', 'status\nopen\n', ['line 1, column "title": is missing']],
    ['a column twice', 'title,TITLE\na,b\n', ['line 1, column "TITLE": occurs more than once']],
    ['nothing', '', ['line 1: the header is missing']],
    [
      'a wrong number',
      'title,Details,Priority\na,"a\nb",1\nc,,many\n',
      ['line 4, column "Priority": must be a whole number; it is "many"'],
    ],
    ['a wrong word', 'title,status\na,done\n', ['line 2, column "status": must be one of open']],
    ['a missing value', 'title,status\n,open\n', ['line 2, column "title": is required']],
    [
      'a wrong instant',
      'title,due_at\na,2030-02-30T00:00:00Z\n',
      ['line 2, column "due_at": must be a timestamp such as 2026-01-31T12:00:00Z; it is'],
    ],
    [
      'a number out of range',
      'title,priority\na,1\n\nb,101\n',
      ['line 4, column "priority": must be at most 100; it is 101'],
    ],
    ['too few cells', 'title,priority\na\n', ['line 2: the number of cells differs']],
    ['what is no id', 'title,parent_id\na,x\n', ['line 2, column "parent_id": is not an id']],
    ['an empty item', 'title,tags\na,a;;b\n', ['line 2, column "tags": must not be empty']],
    [
      'problems of conversion and of validation',
      'title,priority,status,due_at\na,1,open,soon\nb,many,done,\n,101,open,\n',
      [
        'line 2, column "due_at": must be a timestamp such as 2026-01-31T12:00:00Z; it is "soon"',
        'line 3, column "priority": must be a whole number; it is "many"',
        'line 3, column "status": must be one of open, in_progress, in_review, completed, wont_do; it is "done"',
        'line 4, column "title": is required',
        'line 4, column "priority": must be at most 100; it is 101',
      ],
    ],
    ['an open quotation', 'title\n"a\n', ['line 2: a quoted cell begins here and is not closed']],
    ['a stray quotation mark', 'title\na"b\n', ['line 2: a quotation mark is misplaced']],
  ])('with %s says where', async (_about, csv, expected) => {
    const before = await everything();
    const messages = await told(csv);
    expect(messages).toHaveLength(expected.length);
    for (const [place, message] of expected.entries()) expect(messages[place]).toContain(message);
    expect(await everything()).toEqual(before);
  });

  test('names references and taken values by line, and has a thousand rows at the most', async () => {
    const answer = await client.graphql(createCsv, { csv: `title,parent_id\na,\nb,${foreignTask}\n` });
    expectGraphqlError(answer, 'not_found');
    expect(answer.errors[0].extensions.errors).toEqual([
      {
        path: '/1/parentId',
        message: `line 3, column "parent_id": There is no Task "${foreignTask}" in the organization in which you act.`,
      },
    ]);
    const rows = Array.from({ length: 1_001 }, () => 'a\n').join('');
    expectGraphqlError(await client.graphql(createCsv, { csv: `title\n${rows}` }), 'limit_exceeded');
    // What comes behind them is not read: it could not be.
    expectGraphqlError(await client.graphql(createCsv, { csv: `title\n${rows}a"b\n` }), 'limit_exceeded');
  });

  test('has no more columns than the kind, and says so once', async () => {
    const messages = await told(`${'a,'.repeat(100_000)}a\n`);
    expect(messages).toEqual([
      expect.stringMatching(/^line 1: the header has 100001 cells; at most \d+ are possible$/),
    ]);
  });
});

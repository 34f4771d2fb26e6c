import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { group, membership, organization } from '#entities/index.ts';
import { systemCaller } from '#entities/kit/model/caller.ts';
import { newId } from '#entities/kit/base/ids.ts';
import { expectProblem } from '../../kit/expect-problem.ts';
import { asOwner } from '../../kit/as-owner.ts';
import { expectGraphqlError } from '../../kit/graphql-error.ts';
import { buildPerson, signedIn, type Person } from '../../kit/people.ts';
import type { TestAnswer, TestClient } from '../../kit/test-client.ts';
import { requestStatements } from '../../kit/request-statements.ts';
import { uploadBy } from '../../kit/files/uploaded-file.ts';
import { openWorld, type World } from '../../kit/world.ts';

let world: World;
let owner: Person;
let member: Person;
let stranger: Person;
let client: TestClient;
/** Of the other organization. */
let foreign: { readonly task: string; readonly group: string };
const statements: string[] = [];

beforeAll(async () => {
  world = await openWorld({ observers: [requestStatements(statements)] });
  owner = await buildPerson(world);
  member = await buildPerson(world, { organization: owner.organization, role: 'member' });
  stranger = await buildPerson(world);
  client = await signedIn(world, owner);
  const other = await signedIn(world, stranger);
  foreign = {
    task: (await other.graphql(createTask, { input: { title: 'theirs' } })).data.createTask.task.id,
    group: (await other.graphql(createGroup, { input: { name: 'theirs' } })).data.createGroup.group.id,
  };
});
afterAll(() => world.close());

const createTask = `mutation ($input: CreateTaskInput!) { createTask(input: $input) { task {
  id displayId title status priority tags dueAt recordVersion parentId assigneeId assigner { email } } } }`;
const updateTask = `mutation ($id: ID!, $input: UpdateTaskInput!, $recordVersion: Int) {
  updateTask(id: $id, input: $input, recordVersion: $recordVersion) { task { title parentId recordVersion } } }`;
const createGroup = `mutation ($input: CreateGroupInput!) { createGroup(input: $input) { group { id } } }`;
const createGroupMembership = `mutation ($input: CreateGroupMembershipInput!) {
  createGroupMembership(input: $input) { groupMembership { id role } } }`;
const createNote = `mutation ($input: CreateNoteInput!) { createNote(input: $input) { note { id taskId } } }`;
const createTaskFile = `mutation ($input: CreateTaskFileInput!) { createTaskFile(input: $input) { taskFile { id } } }`;
const createFile = `mutation ($input: CreateFileInput!) { createFile(input: $input) { file { metadata } } }`;

async function made(mutation: string, input: object): Promise<string> {
  const { data, errors } = await client.graphql(mutation, { input });
  expect(errors).toBeUndefined();
  const [payload] = Object.values(data) as Record<string, { id: string }>[];
  const [record] = Object.values(payload ?? {});
  return record?.id ?? '';
}

const count = async (table: string) =>
  (await asOwner<{ count: number }>(world, `select count(*)::int as count from ${table}`))[0]?.count;

const asServer = <T>(work: Parameters<typeof world.runtime.database.transact<T>>[1]): Promise<T> =>
  world.runtime.database.transact({ caller: systemCaller('test'), requestId: newId() }, work);

describe('a creation', () => {
  test('has what was given, defaults for the rest, and the creator where nobody is named', async () => {
    const input = {
      title: 'Write it down',
      status: 'IN_PROGRESS',
      tags: ['a', 'b,"c'],
      dueAt: '2030-01-31T12:00:00+02:00',
    };
    const { data } = await client.graphql(createTask, { input });
    expect(data.createTask.task).toEqual({
      id: expect.stringMatching(/^[0-9A-Z]{26}$/),
      displayId: expect.stringMatching(/^TSK-[A-Z2-7]{8}$/),
      ...input,
      dueAt: '2030-01-31T10:00:00.000Z',
      priority: 0,
      recordVersion: 1,
      parentId: null,
      assigneeId: null,
      assigner: { email: owner.user.email },
    });
    const { id } = data.createTask.task;
    expect(
      await asOwner(
        world,
        'select operation, actor, organization_id as "organizationId" from history where entity_id = $1',
        [id],
      ),
    ).toEqual([{ operation: 'created', actor: `user:${owner.user.id}`, organizationId: owner.organization.id }]);
    expect(await asOwner(world, 'select topic from events where entity_id = $1', [id])).toEqual([
      { topic: 'task.created' },
    ]);
  });

  test('keeps JSON as it was given', async () => {
    for (const metadata of [{ a: [1, { b: null }] }, [1, 'two'], 'text', 7, false]) {
      const { data } = await client.graphql(createFile, { input: { content: await uploadBy(world, owner), metadata } });
      expect(data.createFile.file.metadata).toEqual(metadata);
    }
  });

  test('needs the right to create', async () => {
    const auditor = await signedIn(
      world,
      await buildPerson(world, { organization: owner.organization, role: 'auditor' }),
    );
    expectGraphqlError(
      await auditor.graphql('mutation { createTag(input: { name: "mine" }) { tag { id } } }'),
      'permission_denied',
    );
    const nobody = world.client();
    expectGraphqlError(await nobody.graphql(createTask, { input: { title: 'mine' } }), 'unauthenticated');
  });

  test('takes as many statements with references as a change needs, whatever their number', async () => {
    const [parentId, assigneeId] = [await made(createTask, { title: 'above' }), member.user.id];
    statements.length = 0;
    await made(createTask, { title: 'below', parentId, assigneeId });
    const sent = statements.filter((text) => !/^(begin|commit|set local)/.test(text));
    expect(sent.filter((text) => text.includes('for key share'))).toHaveLength(1);
  });

  test.each<[string, string, object, string]>([
    ['an empty title', createTask, { title: '' }, 'invalid_input'],
    ['a title too long', createTask, { title: 'x'.repeat(501) }, 'invalid_input'],
    ['too much JSON', createFile, { content: newId(), metadata: 'x'.repeat(20_000) }, 'invalid_input'],
    ['an unknown word', createTask, { title: 'a', status: 'DONE' }, 'invalid_input'],
    ['a number out of range', createTask, { title: 'a', priority: 101 }, 'invalid_input'],
    ['a number that is none', createTask, { title: 'a', priority: 1.5 }, 'invalid_input'],
    ['a day that does not exist', createTask, { title: 'a', dueAt: '2030-02-30T00:00:00Z' }, 'invalid_input'],
    ['an instant before the calendar', createTask, { title: 'a', dueAt: '-271821-04-20T00:00:00Z' }, 'invalid_input'],
    ['a year after the calendar', createTask, { title: 'a', dueAt: '9999-12-31T23:59:59-23:59' }, 'invalid_input'],
    ['a year before it', createTask, { title: 'a', dueAt: '0000-01-01T00:00:00+23:59' }, 'invalid_input'],
    ['what is no id', createTask, { title: 'a', parentId: 'x' }, 'invalid_input'],
    ['an unknown field', createTask, { title: 'a', organizationId: newId() }, 'invalid_input'],
    ['a field that is kept by the server', createGroup, { name: 'ab', displayId: 'GRP-ABCDEFGH' }, 'invalid_input'],
    ['too many tags', createTask, { title: 'a', tags: Array.from({ length: 51 }, () => 'x') }, 'invalid_input'],
    ['nothing', createTask, {}, 'invalid_input'],
  ])('with %s is refused', async (_about, mutation, input, code) => {
    const before = await count('history');
    expectGraphqlError(await client.graphql(mutation, { input }), code as 'invalid_input');
    expect(await count('history')).toBe(before);
  });

  test('with a number without end in JSON is refused', async () => {
    const mutation = 'mutation { createFile(input: { content: "a", metadata: { size: 1e400 } }) { file { id } } }';
    expectGraphqlError(await client.graphql(mutation), 'invalid_input');
  });

  test.each([
    ['createTask(input: { title: "a\\u0000b" }) { task { id } }', 'title'],
    ['createTask(input: { title: "a", tags: ["\\u0000"] }) { task { id } }', 'tags'],
    [
      'createFile(input: { content: "01J00000000000000000000000", metadata: { k: "\\u0000" } }) { file { id } }',
      'metadata',
    ],
  ])('with NUL in the document is refused: %s', async (field, name) => {
    const answer = await client.graphql(`mutation { ${field} }`);
    expectGraphqlError(answer, 'invalid_input');
    expect(answer.errors[0].extensions.errors).toEqual([{ path: `/${name}`, message: expect.stringContaining('NUL') }]);
  });

  test.each(['a\u0000b', 'a\ud800b'])('with characters that no text has is not even read: %j', async (title) => {
    expectProblem(await client.graphql(createTask, { input: { title } }), 'malformed_body');
    expectGraphqlError(
      await client.graphql('mutation { createTask(input: { title: "\\ud800" }) { task { id } } }'),
      'invalid_input',
    );
  });

  test.each<[string, string, object, object]>([
    ['white space for a title', createTask, { title: ' \n\u00a0' }, { path: '/title', message: 'must not be empty' }],
    ['no title', createTask, { title: '' }, { path: '/title', message: 'must not be empty' }],
    [
      'white space in a list',
      createTask,
      { title: 'a', tags: ['a', ' '] },
      { path: '/tags/1', message: 'must not be empty' },
    ],
    [
      'a wrong item of a list',
      createTask,
      { title: 'a', tags: ['a', 'b', ''] },
      { path: '/tags/2', message: 'must not be empty' },
    ],
    [
      'what is no id',
      createTask,
      { title: 'a', parentId: 'x' },
      { path: '/parentId', message: 'is not an id; it is "x"' },
    ],
  ])('with %s says so in words', async (_about, mutation, input, problem) => {
    const answer = await client.graphql(mutation, { input });
    expectGraphqlError(answer, 'invalid_input');
    expect(answer.errors[0].extensions.errors).toEqual([problem]);
  });

  test.each([
    ['displayId: "TSK-1"', 'displayId is read-only: the server sets it'],
    ['recordVersion: 1', 'recordVersion is read-only: the server sets it'],
    ['titel: "a"', 'titel is not a known field; did you mean "title"?'],
    ['status: DONE', 'status must be one of OPEN, IN_PROGRESS, IN_REVIEW, COMPLETED, WONT_DO; it is "DONE"'],
  ])('with %s in the document or in a variable is refused in the same words', async (member, message) => {
    const [name = '', value = ''] = member.split(': ');
    const literal = await client.graphql(`mutation { createTask(input: { title: "a", ${member} }) { task { id } } }`);
    const given: unknown = /^[A-Z]/.test(value) ? value : JSON.parse(value);
    const variable = await client.graphql(createTask, { input: { title: 'a', [name]: given } });
    for (const answer of [literal, variable]) {
      expectGraphqlError(answer, 'invalid_input');
      expect(answer.errors).toHaveLength(1);
      expect(answer.errors[0].message).toBe(`The input is not valid: ${message}${message.endsWith('?') ? '' : '.'}`);
    }
  });

  test('says where an instant that is none stands, and what it is', async () => {
    const literal = await client.graphql(
      'mutation { createTask(input: { title: "a", dueAt: "soon" }) { task { id } } }',
    );
    expectGraphqlError(literal, 'invalid_input');
    expect(literal.errors[0]).toMatchObject({
      message: 'The input is not valid: dueAt must be a timestamp such as 2026-01-31T12:00:00Z; it is "soon".',
      locations: [{ line: 1, column: 30 }],
    });
    const variable = await client.graphql(createTask, { input: { title: 'a', dueAt: 7 } });
    expectGraphqlError(variable, 'invalid_input');
    expect(variable.errors[0].message).toBe(
      'The input is not valid: dueAt must be a timestamp such as 2026-01-31T12:00:00Z; it is 7.',
    );
  });

  test('names every problem by its path', async () => {
    const { errors } = await client.graphql(createTask, { input: { title: '', priority: 1_000 } });
    expect(errors[0].extensions.errors.map(({ path }: { path: string }) => path)).toEqual(['/title', '/priority']);
  });

  test('of what there is already conflicts, and what came before it in the operation is undone', async () => {
    await made(createGroup, { name: 'once' });
    const before = [await count('groups'), await count('history'), await count('events')];
    const answer = await client.graphql(`mutation {
      a: createGroup(input: { name: "before" }) { group { id } }
      b: createGroup(input: { name: "once" }) { group { id } } }`);
    expectGraphqlError(answer, 'already_exists');
    expect(answer.errors[0].path).toEqual(['b']);
    expect([await count('groups'), await count('history'), await count('events')]).toEqual(before);
  });
});

describe('a reference', () => {
  /** What an answer says besides its request id and the id that was asked for. */
  const said = ({ body }: TestAnswer, id: string) =>
    JSON.stringify(
      body.errors.map(({ message, extensions }: { message: string; extensions: object }) => ({
        message,
        ...extensions,
        request_id: '',
      })),
    ).replaceAll(id, 'ID');

  test.each<[string, (id: string) => readonly [string, object], () => string, string]>([
    ['parentId', (parentId) => [createTask, { title: 'a', parentId }], () => foreign.task, 'Task'],
    ['assigneeId', (assigneeId) => [createTask, { title: 'a', assigneeId }], () => stranger.user.id, 'User'],
    ['assignerId', (assignerId) => [createTask, { title: 'a', assignerId }], () => stranger.user.id, 'User'],
    ['note.taskId', (taskId) => [createNote, { text: 'a', taskId }], () => foreign.task, 'Task'],
    ['taskFile.taskId', (taskId) => [createTaskFile, { content: newId(), taskId }], () => foreign.task, 'Task'],
    ['groupId', (groupId) => [createGroupMembership, { groupId, userId: owner.user.id }], () => foreign.group, 'Group'],
  ])('to another organization by %s is one to nothing', async (_about, mutation, foreignId, kind) => {
    const missing = newId();
    const answers = [];
    for (const id of [foreignId(), missing]) {
      const [text, input] = mutation(id);
      const answer = await client.graphql(text, { input });
      expectGraphqlError(answer, 'not_found');
      expect(answer.errors[0].message).toBe(
        `There is no ${kind} "${id}"${kind === 'User' ? '' : ' in the organization in which you act'}.`,
      );
      answers.push(said(answer, id));
    }
    expect(answers[0]).toBe(answers[1]);
  });

  test('to a person asks for their membership in the organization of the record', async () => {
    const both = await buildPerson(world);
    const groupId = await made(createGroup, { name: `group ${newId()}` });
    const join = { groupId, userId: both.user.id };
    expectGraphqlError(await client.graphql(createGroupMembership, { input: join }), 'not_found');
    const joined = await asServer(({ data }) =>
      data.create(membership, { organizationId: owner.organization.id, userId: both.user.id, role: 'member' }),
    );
    const held = await made(createGroupMembership, join);
    await asServer(({ data }) => data.remove(membership, joined.id));
    // What says so goes with the membership, and comes not back with it.
    expect(
      await asOwner(world, 'select deleted_at is null as "isLive" from group_memberships where id = $1', [held]),
    ).toEqual([{ isLive: false }]);
    expectGraphqlError(await client.graphql(createGroupMembership, { input: join }), 'not_found');
  });

  test('to what is deleted is one to nothing, in a change as in a creation', async () => {
    const [gone, here] = [await made(createTask, { title: 'gone' }), await made(createTask, { title: 'here' })];
    await client.graphql('mutation ($id: ID!) { deleteTask(id: $id) { deletedId } }', { id: gone });
    expectGraphqlError(await client.graphql(createTask, { input: { title: 'a', parentId: gone } }), 'not_found');
    for (const parentId of [gone, foreign.task, newId()])
      expectGraphqlError(await client.graphql(updateTask, { id: here, input: { parentId } }), 'not_found');
  });

  test('that is deleted at the same time leaves nothing behind that hangs on it', async () => {
    for (let round = 0; round < 10; round++) {
      const taskId = await made(createTask, { title: 'raced' });
      const [creation] = await Promise.all([
        client.graphql(createNote, { input: { text: 'a', taskId } }),
        client.graphql('mutation ($id: ID!) { deleteTask(id: $id) { deletedId } }', { id: taskId }),
      ]);
      if (creation.errors) expectGraphqlError(creation, 'not_found');
      expect(await asOwner(world, 'select id from notes where task_id = $1 and deleted_at is null', [taskId])).toEqual(
        [],
      );
    }
  });

  test('asks for the right to edit where the field says so', async () => {
    const groupId = await made(createGroup, { name: 'seen' });
    const input = { groupId, userId: member.user.id };
    const visitor = await signedIn(world, member);
    expectGraphqlError(await visitor.graphql(createGroupMembership, { input }), 'not_found');
    await made(
      'mutation ($input: CreateGroupSettingInput!) { createGroupSetting(input: $input) { groupSetting { id } } }',
      { groupId, visibility: 'PUBLIC' },
    );
    const answer = await visitor.graphql(createGroupMembership, { input });
    expectGraphqlError(answer, 'permission_denied');
    expect(answer.errors[0].message).toBe(
      'You may not edit this Group. The rules allow it for the roles owner or super_admin and users and groups related to it as admin or manager. Owners and administrators can ask explainAccess (GraphQL) which rule decides.',
    );
  });
});

describe('a hierarchy', () => {
  const chain = async (length: number): Promise<string[]> => {
    const ids: string[] = [];
    while (ids.length < length)
      ids.push(await made(createTask, { title: 'link', ...(ids.length > 0 ? { parentId: ids.at(-1) } : {}) }));
    return ids;
  };

  test('has no circles', async () => {
    const [top = '', , bottom = ''] = await chain(3);
    for (const parentId of [top, bottom]) {
      const answer = await client.graphql(updateTask, { id: top, input: { parentId } });
      expectGraphqlError(answer, 'invalid_input');
      expect(answer.errors[0].extensions.errors).toEqual([
        { path: '/parentId', message: 'The Task would be part of itself.' },
      ]);
    }
  });

  test('gets none from two moves at the same time', async () => {
    for (let round = 0; round < 5; round++) {
      const [[a = '', b = ''], [c = '', d = '']] = [await chain(2), await chain(2)];
      await Promise.all([
        client.graphql(updateTask, { id: a, input: { parentId: d } }),
        client.graphql(updateTask, { id: c, input: { parentId: b } }),
      ]);
      const moved = await asOwner(world, 'select id from tasks where id = any($1) and parent_id is not null', [[a, c]]);
      expect(moved).toHaveLength(1);
    }
  });

  test('has twenty levels at the most, however it grows', async () => {
    const ids = await chain(20);
    const answer = await client.graphql(createTask, { input: { title: 'a', parentId: ids.at(-1) } });
    expectGraphqlError(answer, 'invalid_input');
    expect(answer.errors[0].extensions.errors[0]).toMatchObject({
      path: '/parentId',
      message: expect.stringContaining('20 levels'),
    });
    const [top = ''] = await chain(2);
    expectGraphqlError(await client.graphql(updateTask, { id: top, input: { parentId: ids[18] } }), 'invalid_input');
    const { errors } = await client.graphql(updateTask, { id: top, input: { parentId: ids[17] } });
    expect(errors).toBeUndefined();
  });
});

describe('a version', () => {
  test('that is not the current one is stale', async () => {
    const id = await made(createTask, { title: 'first' });
    const change = (title: string, recordVersion: number | null) =>
      client.graphql(updateTask, { id, input: { title }, recordVersion });
    expect((await change('second', 1)).data.updateTask.task).toMatchObject({ title: 'second', recordVersion: 2 });
    for (const version of [1, 3, 0, -1]) expectGraphqlError(await change('third', version), 'stale_record');
    expect((await change('third', null)).data.updateTask.task.recordVersion).toBe(3);
    const remove = (version: number) =>
      client.graphql(`mutation { deleteTask(id: "${id}", recordVersion: ${version}) { deletedId } }`);
    expectGraphqlError(await remove(2), 'stale_record');
    expect((await remove(3)).data.deleteTask.deletedId).toBe(id);
  });
});

describe('an organization that is deleted', () => {
  test('gets nothing new, also at the same time', async () => {
    for (let round = 0; round < 5; round++) {
      const person = await buildPerson(world);
      const { id } = person.organization;
      const own = await signedIn(world, person);
      const [creation] = await Promise.all([
        own.graphql(createTask, { input: { title: 'raced' } }),
        own.graphql('mutation ($id: ID!) { deleteOrganization(id: $id) { deletedId } }', { id }),
      ]);
      // Before the deletion it is there, and hidden with it until it is removed; after it there is no role any more.
      const refusals = ['not_found', 'permission_denied', 'no_current_organization'];
      if (creation.errors) expect(refusals).toContain(creation.errors[0].extensions.code);
      const there = await asOwner(world, 'select id from tasks where organization_id = $1', [id]);
      expect(there).toHaveLength(creation.errors ? 0 : 1);
      expectProblem(await own.get(`/v1/tasks/${there[0]?.['id'] ?? newId()}`), 'no_current_organization');
    }
  });

  test('is refused by the database whoever asks', async () => {
    const made = await asServer(({ data }) => data.create(organization, { name: `gone-${newId().toLowerCase()}` }));
    await asServer(({ data }) => data.remove(organization, made.id));
    await expect(
      asServer(({ data }) => data.create(group, { organizationId: made.id, name: 'late' })),
    ).rejects.toMatchObject({ code: 'not_found', message: `There is no Organization "${made.id}".` });
    expect(
      await asOwner(world, `select id from groups where organization_id = $1 and name = 'late'`, [made.id]),
    ).toEqual([]);
  });
});

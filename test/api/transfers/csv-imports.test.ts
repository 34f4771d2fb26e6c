import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { asOwner } from '../../kit/as-owner.ts';
import { expectGraphqlError } from '../../kit/graphql-error.ts';
import { buildPerson, signedIn, type Person } from '../../kit/people.ts';
import { shows } from '../../kit/shows.ts';
import type { TestClient } from '../../kit/test-client.ts';
import { openWorld, type World } from '../../kit/world.ts';

let world: World;
let owner: Person;
let member: Person;
let client: TestClient;
let theirs: TestClient;
let stranger: Person;

beforeAll(async () => {
  world = await openWorld();
  owner = await buildPerson(world);
  member = await buildPerson(world, { organization: owner.organization, role: 'member' });
  client = await signedIn(world, owner);
  stranger = await buildPerson(world);
  theirs = await signedIn(world, stranger);
});
afterAll(() => world.close());

const createCsv = `mutation ($csv: String!) { createBulkCSVTask(csv: $csv) {
  tasks { id displayId title assigneeId parentId typeId } } }`;
const updateCsv = `mutation ($csv: String!) { updateBulkCSVTask(csv: $csv) {
  updatedIds tasks { id title priority assigneeId } } }`;

interface Task {
  readonly id: string;
  readonly displayId: string;
  readonly title: string;
}

async function created(by: TestClient, input: object, type = 'Task'): Promise<Task> {
  const kind = type.slice(0, 1).toLowerCase() + type.slice(1);
  const selected = type === 'Task' ? 'id displayId title' : 'id';
  const { data, errors } = await by.graphql(
    `mutation ($input: Create${type}Input!) { create${type}(input: $input) { ${kind} { ${selected} } } }`,
    { input },
  );
  expect(errors).toBeUndefined();
  return data[`create${type}`][kind];
}

const everything = () =>
  asOwner(
    world,
    `select (select count(*)::int from tasks) as tasks, (select count(*)::int from history) as history,
    (select count(*)::int from events) as events`,
  );

async function told(csv: string, mutation = createCsv, by = client): Promise<string[]> {
  const before = await everything();
  const answer = await by.graphql(mutation, { csv });
  expect(answer.errors, csv).toHaveLength(1);
  expect(await everything()).toEqual(before);
  return answer.errors[0].extensions.errors.map(({ message }: { message: string }) => message);
}

describe('look-up columns', () => {
  test('name records by display id, e-mail address and name', async () => {
    const parent = await created(client, { title: 'parent' });
    const type = await created(client, { objectType: 'TASK', field: 'TYPE', name: 'Audit' }, 'CustomEnumValue');
    const csv = `title,assigneeEmail,parent_display_id,typeName\na,${member.user.email.toUpperCase()},${parent.displayId},Audit\nb,,,\n`;
    const { data, errors } = await client.graphql(createCsv, { csv });
    expect(errors).toBeUndefined();
    expect(data.createBulkCSVTask.tasks).toMatchObject([
      { title: 'a', assigneeId: member.user.id, parentId: parent.id, typeId: type.id },
      { title: 'b', assigneeId: null, parentId: null, typeId: null },
    ]);
  });

  test('find nothing of another organization, of another use, or that does not exist, and say it in the same words', async () => {
    const foreign = await created(theirs, { title: 'theirs' });
    await created(client, { objectType: 'GLOBAL', field: 'SCOPE', name: 'Elsewhere' }, 'CustomEnumValue');
    const csv = `title,assigneeEmail,parentDisplayId,typeName\n,nobody@example.com,TSK-ZZZZZZ,Nothing\nb,${stranger.user.email},${foreign.displayId},Elsewhere\n`;
    expect(await told(csv)).toEqual([
      'line 2, column "title": is required',
      'line 2, column "assigneeEmail": names no person; it is "nobody@example.com"',
      'line 2, column "parentDisplayId": names no task; it is "TSK-ZZZZZZ"',
      'line 2, column "typeName": names no value of the list; it is "Nothing"',
      `line 3, column "assigneeEmail": names no person; it is "${stranger.user.email}"`,
      `line 3, column "parentDisplayId": names no task; it is "${foreign.displayId}"`,
      'line 3, column "typeName": names no value of the list; it is "Elsewhere"',
    ]);
  });

  test('find only what the caller can view', async () => {
    const hidden = await created(client, { title: 'of the owner' });
    const other = await signedIn(world, member);
    expect(await told(`title,parentDisplayId\na,${hidden.displayId}\n`, createCsv, other)).toEqual([
      `line 2, column "parentDisplayId": names no task; it is "${hidden.displayId}"`,
    ]);
  });
});

describe('changes', () => {
  test('of records that display ids name, all of them', async () => {
    const one = await created(client, { title: 'one' });
    const two = await created(client, { title: 'two' });
    const csv = `title,displayId,priority,assigneeEmail\nfirst,${one.displayId},5,${member.user.email}\n,${two.displayId},6,\n`;
    const { data, errors } = await client.graphql(updateCsv, { csv });
    expect(errors).toBeUndefined();
    expect(data.updateBulkCSVTask).toEqual({
      updatedIds: [one.id, two.id],
      tasks: [
        { id: one.id, title: 'first', priority: 5, assigneeId: member.user.id },
        { id: two.id, title: 'two', priority: 6, assigneeId: null },
      ],
    });
  });

  test('are refused with all problems, and nothing is changed', async () => {
    const one = await created(client, { title: 'one' });
    const foreign = await created(theirs, { title: 'theirs' });
    const before = await asOwner(world, 'select title, priority from tasks order by id');
    const csv = `id,title,priority\n${one.id},changed,1\n${foreign.id},x,1\n${one.id},y,1\n,z,1\n${one.id},${'x'.repeat(501)},200\n`;
    expect(await told(csv, updateCsv)).toEqual([
      `line 3, column "id": names no task; it is "${foreign.id}"`,
      'line 4, column "id": occurs more than once; a document changes a record once',
      'line 5, column "id": is empty; it says which record changes',
      'line 6, column "id": occurs more than once; a document changes a record once',
      'line 6, column "title": must have at most 500 characters; it has 501',
      'line 6, column "priority": must be at most 100; it is 200',
    ]);
    expect(await asOwner(world, 'select title, priority from tasks order by id')).toEqual(before);
  });

  test('of records that the caller may only view are refused by line', async () => {
    const one = await created(client, { title: 'one', assigneeId: member.user.id });
    const auditor = await signedIn(
      world,
      await buildPerson(world, { organization: owner.organization, role: 'auditor' }),
    );
    const messages = await told(`id,title\n${one.id},changed\n`, updateCsv, auditor);
    expect(messages).toEqual([expect.stringMatching(/^line 2, column "id": /)]);
  });
});

describe('a document', () => {
  test('of ten thousand wrong cells tells the first hundred', async () => {
    const rows = Array.from({ length: 1_000 }, () => 'a,1000,soon,\n').join('');
    const messages = await told(`title,priority,due_at,status\n${rows}`);
    expect(messages).toHaveLength(100);
    expect(messages[0]).toMatch(/^line 2, column "priority"/);
    expect(messages.at(-1)).toMatch(/^line 51, column "due_at"/);
  });

  test('with formulas is refused, and with formulas marked as text is not', async () => {
    expect(await told('title,tags\n=1+1,@x\n')).toEqual([
      expect.stringMatching(/^line 2, column "title": begins like a formula of a spreadsheet; it is "=1\+1"/),
      expect.stringMatching(/^line 2, column "tags": begins like a formula/),
    ]);
    const { data } = await client.graphql(createCsv, { csv: "title\n'=1+1\n" });
    expect(data.createBulkCSVTask.tasks).toMatchObject([{ title: '=1+1' }]);
  });
});

test('ormconfig.maxschemaimportsize limits the bytes of a document', async () => {
  shows('ormconfig.maxschemaimportsize');
  const csv = `title\n${'ü'.repeat(400)}\n${'ü'.repeat(400)}\n`;
  await world.reconfigure({ CORE_ORMCONFIG_MAXSCHEMAIMPORTSIZE: '1024' });
  const answer = await client.graphql(createCsv, { csv });
  expectGraphqlError(answer, 'limit_exceeded');
  expect(answer.errors[0].message).toContain('it is larger than 1 KB');
  await world.reconfigure({ CORE_ORMCONFIG_MAXSCHEMAIMPORTSIZE: '262144' });
  expect((await client.graphql(createCsv, { csv })).errors).toBeUndefined();
});

test('GET /v1/tasks/import-template answers with a document that can be imported', async () => {
  const header = await client.get('/v1/tasks/import-template');
  expect(header.status).toBe(200);
  expect(header.headers['content-type']).toBe('text/csv; charset=utf-8');
  expect(header.headers['content-disposition']).toBe('attachment; filename=tasks.csv');
  const { body: csv } = await client.get('/v1/tasks/import-template?rows=example');
  const { errors } = await client.graphql(createCsv, { csv });
  expect(errors).toBeUndefined();
  const { body: values } = await client.get('/v1/tasks/import-template?rows=values&action=update');
  for (const part of [
    'displayId,title',
    'optional: E-mail address of a person',
    'optional: Name of a value of the list',
    'optional: Display id of a task',
  ])
    expect(values).toContain(part);
  expect((await client.get('/v1/tasks/import-template?rows=all')).status).toBe(400);
  expect((await world.client().get('/v1/tasks/import-template')).status).toBe(401);
});

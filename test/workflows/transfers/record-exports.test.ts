import { pino } from 'pino';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { TransferWork } from '#activities/transfers/transfer-work.ts';
import { export as exportKind, membership, note } from '#entities/index.ts';
import { newId } from '#entities/kit/base/ids.ts';
import { asOwner } from '../../kit/as-owner.ts';
import { asSystem } from '../../kit/as-person.ts';
import { eventually } from '../../kit/eventually.ts';
import { expectProblem } from '../../kit/expect-problem.ts';
import { expectGraphqlError } from '../../kit/graphql-error.ts';
import { buildPerson, signedIn, type Person } from '../../kit/people.ts';
import { runSchedule } from '../../kit/sweep.ts';
import type { TestClient } from '../../kit/test-client.ts';
import { documentOf, ended, startExport, startImport } from '../../kit/events/started-transfers.ts';
import { whileLocked } from '../../kit/records/while-locked.ts';
import { openWorld, type World } from '../../kit/world.ts';

let world: World;
let owner: Person;
let client: TestClient;
beforeAll(async () => {
  world = await openWorld({ worker: ['workflows', 'exports', 'maintenance'] });
  owner = await buildPerson(world);
  client = await signedIn(world, owner);
});
afterAll(() => world.close());
// A test that fails does not keep the others waiting.
afterEach(async () => void (await world.reconfigure({ CORE_WORKFLOWS_DISPATCH_ENABLED: 'true' })));

const createBulk = 'mutation ($inputs: [CreateTaskInput!]!) { createBulkTask(inputs: $inputs) { tasks { id } } }';

async function tasks(by: TestClient, inputs: readonly object[]): Promise<void> {
  const { errors } = await by.graphql(createBulk, { inputs });
  expect(errors).toBeUndefined();
}

/** The part of a worker that exports, for what happens between two of its steps. */
function exporting() {
  const { config, runtime } = world;
  const { database, contextOfCallers, fileReceiver, storage } = runtime;
  const logger = pino({ level: 'silent' });
  return new TransferWork({ config, database, contextOfCallers, fileReceiver, logger, storage }, exportKind);
}

const wild = [
  { title: '=HYPERLINK("http://x")', details: 'a,b\n"c"', tags: ['x;y', 'z'], metadata: { a: '=1' } },
  { title: '+49 30 1', details: '-1', tags: ['@home'] },
  { title: "'quoted", details: '\tx', priority: 7, dueAt: '2030-01-31T12:00:00Z', status: 'IN_PROGRESS' },
];

describe('an export', () => {
  test('as CSV has no formulas, and can be imported again as it was', async () => {
    const person = await buildPerson(world);
    const own = await signedIn(world, person);
    await tasks(own, wild);
    const { id } = await startExport(own, { record_kind: 'task' });
    const done = await ended(own, 'exports', id);
    expect(done).toMatchObject({ status: 'completed', done_rows: 3, total_rows: 3 });
    expect(done.content?.name).toMatch(/^task-export-\d{4}-\d\d-\d\d\.csv$/);
    const text = await documentOf(own, done);
    const cells = text.slice(1).split(/[\r\n,]+/);
    expect(cells.filter((cell) => /^"?[=+\-@\t]/.test(cell))).toEqual([]);
    expect(text).toContain(`"'=HYPERLINK(""http://x"")"`);
    const copy = await startImport(world, person, own, text);
    expect(await ended(own, 'imports', copy.id)).toMatchObject({ status: 'completed', done_rows: 3, problems: null });
    const values = await asOwner(
      world,
      `select title, details, status, priority, due_at, tags, metadata, assigner_id, count(*)::int as copies from tasks
       where organization_id = $1 group by 1, 2, 3, 4, 5, 6, 7, 8`,
      [person.organization.id],
    );
    expect(values.map(({ copies }) => copies)).toEqual([2, 2, 2]);
  });

  test('has many pages, the fields, the order and the records that were asked for', async () => {
    const person = await buildPerson(world);
    const own = await signedIn(world, person);
    for (let page = 0; page < 6; page++)
      await tasks(
        own,
        Array.from({ length: 200 }, (_none, index) => ({ title: `task ${page * 200 + index}`, priority: index % 100 })),
      );
    const { id } = await startExport(own, {
      record_kind: 'task',
      format: 'json',
      fields: ['title', 'priority', 'created_at'],
      filters: { and: [{ priority: { gte: 10 } }, { not: { title: { startsWith: 'task 115' } } }] },
      order_by: ['-priority', 'title'],
    });
    const done = await ended(own, 'exports', id);
    const expected = await asOwner<{ title: string; priority: number }>(
      world,
      `select title, priority from tasks where organization_id = $1 and priority >= 10 and not starts_with(title, 'task 115')
       order by priority desc, title desc`,
      [person.organization.id],
    );
    const found = JSON.parse(await documentOf(own, done)) as { title: string; priority: number; createdAt: string }[];
    expect(done).toMatchObject({ status: 'completed', done_rows: found.length, total_rows: found.length });
    expect(found.length).toBe(expected.length);
    expect(found.length).toBeGreaterThan(1_000);
    expect(Object.keys(found[0] ?? {})).toEqual(['title', 'priority', 'createdAt']);
    const inOrder = found.map(({ title, priority }) => ({ title, priority }));
    expect(inOrder).toEqual(expected.toSorted((a, b) => b.priority - a.priority || (a.title < b.title ? -1 : 1)));
    expect(await asOwner(world, 'select 1 from export_pages')).toEqual([]);
    const events = await asOwner(world, 'select topic, payload from events where entity_id = $1 order by id', [id]);
    expect(events.at(-1)).toMatchObject({ topic: 'export.completed', payload: { rows: found.length } });
  });

  test('of no records is a document all the same', async () => {
    const { id } = await startExport(client, { record_kind: 'group', filters: { name: { eq: 'nothing' } } });
    const done = await ended(client, 'exports', id);
    expect(done).toMatchObject({ status: 'completed', done_rows: 0, total_rows: 0 });
    expect((await documentOf(client, done)).trim()).toMatch(/^\uFEFF?id,displayId,name/);
  });

  test('has only what its person may view when it runs, and is theirs alone', async () => {
    const person = await buildPerson(world);
    const own = await signedIn(world, person);
    const member = await buildPerson(world, { organization: person.organization, role: 'member' });
    const their = await signedIn(world, member);
    await tasks(own, [{ title: 'hidden' }, { title: 'assigned', assigneeId: member.user.id }]);
    await tasks(await signedIn(world, await buildPerson(world)), [{ title: 'foreign' }]);
    const { id } = await startExport(their, { record_kind: 'task', fields: ['title'] });
    const done = await ended(their, 'exports', id);
    expect((await documentOf(their, done)).slice(1)).toBe('title\r\nassigned\r\n');
    expectProblem(await own.get(`/v1/exports/${id}`), 'not_found');
    expectProblem(await own.get(`/v1/files/${done.content?.id}/download`), 'not_found');
  });

  test('of memberships has those of its organization alone, although its person sees their own ones everywhere', async () => {
    const person = await buildPerson(world);
    const own = await signedIn(world, person);
    await asSystem(world, owner.organization.id, (data) =>
      data.create(membership, { userId: person.user.id, role: 'member' }),
    );
    expect((await own.get('/v1/account/memberships')).body.data).toHaveLength(2);
    const { id } = await startExport(own, { record_kind: 'membership', fields: ['organizationId'] });
    const done = await ended(own, 'exports', id);
    expect((await documentOf(own, done)).slice(1)).toBe(`organizationId\r\n${person.organization.id}\r\n`);
  });

  test('that is larger than a file can be stops at the page with which it is, and says the limit and what to do', async () => {
    const person = await buildPerson(world);
    const own = await signedIn(world, person);
    // 4 MB of details: a thousand tasks of a page are larger than a file of 1 MB.
    for (let page = 0; page < 8; page++)
      await tasks(
        own,
        Array.from({ length: 250 }, (_none, index) => ({ title: `large ${index}`, details: 'x'.repeat(2_000) })),
      );
    await world.reconfigure({ CORE_OBJECTSTORAGE_MAXSIZEMB: '1' });
    try {
      const { id } = await startExport(own, { record_kind: 'task', fields: ['details'] });
      const failed = await ended(own, 'exports', id);
      expect(failed).toMatchObject({ status: 'failed', error_code: 'limit_exceeded', content: null });
      expect(failed.error_message).toBe(
        'The document is larger than a file can be: 1000 of 2000 records have more than 1 MB (objectstorage.maxsizemb). Export fewer records at a time with filters, or fewer fields with fields.',
      );
      // The page that is too much is not kept.
      expect(await asOwner(world, 'select 1 from export_pages where export_id = $1', [id])).toEqual([]);
      const few = await startExport(own, { record_kind: 'task', fields: ['title'] });
      expect(await ended(own, 'exports', few.id)).toMatchObject({ status: 'completed', done_rows: 2_000 });
    } finally {
      await world.reconfigure({ CORE_OBJECTSTORAGE_MAXSIZEMB: undefined });
    }
  });

  test('fails when its person has lost the organization', async () => {
    const person = await buildPerson(world);
    const member = await buildPerson(world, { organization: person.organization, role: 'member' });
    const their = await signedIn(world, member);
    await world.reconfigure({ CORE_WORKFLOWS_DISPATCH_ENABLED: 'false' });
    const { id } = await startExport(their, { record_kind: 'task' });
    const { errors } = await (
      await signedIn(world, person)
    ).graphql('mutation ($ids: [ID!]!) { deleteBulkMembership(ids: $ids) { deletedIds } }', {
      ids: (
        await asOwner<{ id: string }>(world, 'select id from memberships where user_id = $1 and organization_id = $2', [
          member.user.id,
          person.organization.id,
        ])
      ).map((row) => row.id),
    });
    expect(errors).toBeUndefined();
    await world.reconfigure({ CORE_WORKFLOWS_DISPATCH_ENABLED: 'true' });
    world.runtime.wakeRelays();
    const row = await eventually(async () => {
      const [found] = await asOwner<{ status: string; error_code: string }>(
        world,
        'select status, error_code from exports where id = $1',
        [id],
      );
      return found?.status === 'failed' && found;
    });
    expect(row.error_code).toBe('permission_denied');
    expect(
      await asOwner(world, `select payload from events where entity_id = $1 and topic = 'export.failed'`, [id]),
    ).toEqual([{ payload: { code: 'permission_denied' } }]);
  });

  test('can be cancelled, started again, and deleted; its document expires', async () => {
    await world.reconfigure({ CORE_WORKFLOWS_DISPATCH_ENABLED: 'false' });
    const { id } = await startExport(client, { record_kind: 'task' });
    const cancelled = await client.graphql('mutation ($id: ID!) { cancelExport(id: $id) { export { status } } }', {
      id,
    });
    expect(cancelled.data.cancelExport.export.status).toBe('CANCELLED');
    await world.reconfigure({ CORE_WORKFLOWS_DISPATCH_ENABLED: 'true' });
    expect((await client.post(`/v1/exports/${id}/restart`)).body.status).toBe('pending');
    const done = await ended(client, 'exports', id);
    expect(done.status).toBe('completed');
    expectProblem(await client.post(`/v1/exports/${id}/cancel`), 'rule_violated');
    world.clock.advance(8 * 86_400_000);
    const again = await signedIn(world, owner);
    await runSchedule(world, 'expire-exports');
    await eventually(async () => (await again.get(`/v1/exports/${id}`)).body.status === 'expired');
    expect((await again.get(`/v1/exports/${id}`)).body.content).toBeNull();
    expectProblem(await again.get(`/v1/files/${done.content?.id}/download`), 'not_found');
    expect((await again.post(`/v1/exports/${id}/restart`)).status).toBe(200);
    expect((await ended(again, 'exports', id)).content).not.toBeNull();
    const { status } = await again.mutate({ method: 'DELETE', url: `/v1/exports/${id}` });
    expect(status).toBe(204);
  });
});

test('a document expires although the product has no such records any more, and so do those after it', async () => {
  const own = await signedIn(world, owner);
  const begun = [await startExport(own, { record_kind: 'task' }), await startExport(own, { record_kind: 'tag' })];
  for (const { id } of begun) expect((await ended(own, 'exports', id)).status).toBe('completed');
  await asOwner(world, `update exports set record_kind = 'gone' where id = $1`, [begun[0]?.id]);
  world.clock.advance(8 * 86_400_000);
  await runSchedule(world, 'expire-exports');
  const again = await signedIn(world, owner);
  for (const { id } of begun) expect((await again.get(`/v1/exports/${id}`)).body).toMatchObject({ status: 'expired' });
});

test('work that is cancelled while it fails stays cancelled', async () => {
  const own = await signedIn(world, owner);
  await world.reconfigure({ CORE_WORKFLOWS_DISPATCH_ENABLED: 'false' });
  const { id } = await startExport(own, { record_kind: 'task' });
  const work = exporting();
  const transfer = { id, runId: newId() };
  expect(await work.begin(transfer)).toBe(true);
  await whileLocked(
    world,
    [exportKind, id],
    () => work.fail(transfer),
    (data) => data.update(exportKind, id, { status: 'cancelled' }),
  );
  expect((await own.get(`/v1/exports/${id}`)).body.status).toBe('cancelled');
});

test('long records are exported in smaller pages: no answer of the database is large', async () => {
  const person = await buildPerson(world);
  const own = await signedIn(world, person);
  const input = { text: 'a'.repeat(50_000), ownerId: person.user.id };
  await asSystem(world, person.organization.id, (data) =>
    data.createAll(Array.from({ length: 400 }, (_none, index) => ({ module: note, input, path: `/${index}` }))),
  );
  const { id } = await startExport(own, { record_kind: 'note', format: 'json', fields: ['text'] });
  const done = await ended(own, 'exports', id);
  expect(done).toMatchObject({ status: 'completed', done_rows: 400, error_message: null });
  expect(done.content?.size_bytes).toBeGreaterThan(400 * 50_000);
});

test.each([
  ['an unknown kind', { record_kind: 'tasks' }, '/record_kind', 'did you mean "task"?'],
  ['an unknown field', { record_kind: 'task', fields: ['title', 'secret'] }, '/fields/1', 'must be one of'],
  ['a hidden field', { record_kind: 'task', fields: ['deletedAt'] }, '/fields/0', 'must be one of'],
  ['a wrong order', { record_kind: 'task', order_by: ['details'] }, '/order_by/0', 'must be one of'],
  ['an unknown filter', { record_kind: 'task', filters: { details: { eq: 'a' } } }, '/filters/details', 'is no field'],
  [
    'a wrong comparison',
    { record_kind: 'task', filters: { status: { gt: 'open' } } },
    '/filters/status/gt',
    'is no comparison',
  ],
  [
    'a wrong value',
    { record_kind: 'task', filters: { priority: { eq: 'x' } } },
    '/filters/priority/eq',
    'must be a whole number',
  ],
  ['no object', { record_kind: 'task', filters: [] }, '/filters', 'must be an object'],
] as const)('a request for an export with %s is refused at once', async (_about, values, path, message) => {
  // Time has passed since the first sign-in.
  const answer = await (await signedIn(world, owner)).post('/v1/exports', values);
  expectProblem(answer, 'invalid_input');
  expect(answer.body.errors[0].path).toBe(path);
  expect(answer.body.errors[0].message).toContain(message);
});

test('a person has twenty exports that have not ended, at most', async () => {
  const own = await signedIn(world, await buildPerson(world));
  await world.reconfigure({ CORE_WORKFLOWS_DISPATCH_ENABLED: 'false' });
  const bulk = 'mutation ($inputs: [CreateExportInput!]!) { createBulkExport(inputs: $inputs) { exports { id } } }';
  const many = (length: number) => ({ inputs: Array.from({ length }, () => ({ recordKind: 'task' })) });
  expectGraphqlError(await own.graphql(bulk, many(21)), 'limit_exceeded');
  const { data } = await own.graphql(bulk, many(20));
  const [{ id }] = data.createBulkExport.exports;
  expectProblem(await own.post('/v1/exports', { record_kind: 'task' }), 'limit_exceeded');
  expect((await own.post(`/v1/exports/${id}/cancel`)).status).toBe(200);
  expect((await own.post('/v1/exports', { record_kind: 'task' })).status).toBe(201);
  expectProblem(await own.post(`/v1/exports/${id}/restart`), 'limit_exceeded');
  expect((await (await signedIn(world, owner)).post('/v1/exports', { record_kind: 'task' })).status).toBe(201);
});

test('auditors start no exports', async () => {
  const auditor = await signedIn(
    world,
    await buildPerson(world, { organization: owner.organization, role: 'auditor' }),
  );
  expectProblem(await auditor.post('/v1/exports', { record_kind: 'task' }), 'permission_denied');
});

import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { task } from '#entities/index.ts';
import { newId } from '#entities/kit/base/ids.ts';
import { systemCaller } from '#entities/kit/model/caller.ts';
import { asOwner } from '../../kit/as-owner.ts';
import { eventually } from '../../kit/eventually.ts';
import { expectProblem } from '../../kit/expect-problem.ts';
import { waitForLocks } from '../../kit/records/held-row.ts';
import { formOf } from '../../kit/files/multipart-form.ts';
import { buildPerson, signedIn, type Person } from '../../kit/people.ts';
import { storedUpload } from '../../kit/files/stored-upload.ts';
import type { TestClient } from '../../kit/test-client.ts';
import { documentOf, ended, startExport, startImport } from '../../kit/events/started-transfers.ts';
import { openWorld, type World } from '../../kit/world.ts';

let world: World;
let owner: Person;
let client: TestClient;
beforeAll(async () => {
  world = await openWorld({
    worker: ['workflows', 'exports'],
    environment: { CORE_ORMCONFIG_MAXSCHEMAIMPORTSIZE: '4194304' },
  });
  owner = await buildPerson(world);
  client = await signedIn(world, owner);
});
afterAll(() => world.close());

const countOf = async (title: string) =>
  (await asOwner<{ count: number }>(world, 'select count(*)::int as count from tasks where title like $1', [title]))[0]
    ?.count;

const rowsOf = (count: number, row: (index: number) => string) =>
  Array.from({ length: count }, (_none, index) => `${row(index)}\n`).join('');

describe('an import', () => {
  test('creates more records than one request can, with progress, history and events', async () => {
    const before = await asOwner(world, `select count(*)::int as count from events where topic = 'task.created'`);
    const begun = await startImport(
      world,
      owner,
      client,
      `title,priority\n${rowsOf(2_345, (index) => `many ${index},${index % 100}`)}`,
    );
    expect(begun).toMatchObject({ status: 'pending', done_rows: 0, total_rows: null });
    const done = await ended(client, 'imports', begun.id);
    expect(done).toMatchObject({
      status: 'completed',
      done_rows: 2_345,
      total_rows: 2_345,
      error_code: null,
      problems: null,
    });
    expect(await countOf('many %')).toBe(2_345);
    const after = await asOwner(world, `select count(*)::int as count from events where topic = 'task.created'`);
    expect(Number(after[0]?.['count']) - Number(before[0]?.['count'])).toBe(2_345);
    const [task] = await asOwner(
      world,
      `select created_by, assigner_id, organization_id from tasks where title = 'many 2344'`,
    );
    expect(task).toEqual({
      created_by: `user:${owner.user.id}`,
      assigner_id: owner.user.id,
      organization_id: owner.organization.id,
    });
    const events = await asOwner(world, 'select topic, payload from events where entity_id = $1 order by id', [
      begun.id,
    ]);
    expect(events.at(-1)).toMatchObject({ topic: 'import.completed', payload: { rows: 2_345 } });
  });

  test('takes a file that comes with the GraphQL operation', async () => {
    const query = `mutation ($input: CreateImportInput!) { createImport(input: $input) { import { id status } } }`;
    const { payload, type } = formOf([
      {
        field: 'operations',
        content: JSON.stringify({ query, variables: { input: { recordKind: 'task', content: null } } }),
      },
      { field: 'map', content: JSON.stringify({ 0: ['variables.input.content'] }) },
      { field: '0', name: 'tasks.csv', type: 'text/csv', content: 'title\nby form\n' },
    ]);
    const { body } = await client.mutate({
      method: 'POST',
      url: '/graphql',
      payload,
      headers: { 'content-type': type },
    });
    expect(body.errors).toBeUndefined();
    expect(await ended(client, 'imports', body.data.createImport.import.id)).toMatchObject({
      status: 'completed',
      done_rows: 1,
    });
    expect(await countOf('by form')).toBe(1);
  });

  test('takes an export of the same kind as it is, and changes nothing', async () => {
    const values = {
      title: '=1+1',
      details: ' "two"\nlines; ',
      tags: ['null', ' a', 'a,\tb'],
      assignee_id: owner.user.id,
      external_id: "'1",
      priority: 7,
      metadata: { a: [] },
    };
    const { status, body: first } = await client.post('/v1/tasks', values);
    expect(status, JSON.stringify(first)).toBe(201);
    const of = { record_kind: 'task', filters: { id: { eq: first.id } } };
    const exported = await ended(client, 'exports', (await startExport(client, of)).id);
    const document = await documentOf(client, exported);
    expect(document).toContain(owner.user.id);
    expect(document).toContain(",'1,");
    for (const action of ['update', 'create'] as const) {
      const once = action === 'create' ? document.replace(",'1,", ',another,') : document;
      const { id } = await startImport(world, owner, client, once, { action });
      const done = await ended(client, 'imports', id);
      expect(done, JSON.stringify(done)).toMatchObject({ status: 'completed', done_rows: 1 });
    }
    const found = await asOwner(
      world,
      'select tags, details, assignee_id, priority from tasks where title = $1 order by id',
      ['=1+1'],
    );
    const expected = { tags: values.tags, details: values.details, assignee_id: owner.user.id, priority: 7 };
    expect(found).toEqual([expected, expected]);
  });

  test('changes the records that its rows name', async () => {
    const { body: one } = await client.post('/v1/tasks', { title: 'to be changed' });
    const { id } = await startImport(world, owner, client, `display_id,priority\n${one.display_id},77\n`, {
      action: 'update',
    });
    expect(await ended(client, 'imports', id)).toMatchObject({ status: 'completed', done_rows: 1 });
    expect((await client.get(`/v1/tasks/${one.id}`)).body).toMatchObject({ title: 'to be changed', priority: 77 });
  });

  test.each<[string, string, string, (string | RegExp)[]]>([
    [
      'wrong cells and names that nobody has',
      `title,priority,assigneeEmail\n${rowsOf(600, () => 'wrong,1,')}wrong,many,\nwrong,1,nobody@example.com\n,200,\n`,
      'invalid_input',
      [
        'line 602, column "priority": must be a whole number; it is "many"',
        'line 603, column "assigneeEmail": names no person; it is "nobody@example.com"',
        'line 604, column "title": is required',
        'line 604, column "priority": must be at most 100; it is 200',
      ],
    ],
    [
      'a record of nobody in the second page',
      `title,parentId\n${rowsOf(700, () => 'wrong,')}wrong,01ARZ3NDEKTSV4RRFFQ69G5FAV\n`,
      'not_found',
      [/^line 702, column "parentId": There is no Task/],
    ],
    [
      'a value twice, far apart',
      `title,externalId\n${rowsOf(900, (index) => `wrong,${index === 850 ? 'same' : index === 3 ? 'same' : `id-${index}`}`)}`,
      'already_exists',
      [/^line 852, column "externalId": There is a task with this external id/],
    ],
    ['an unknown column', 'titel\nwrong\n', 'invalid_input', [/did you mean "title"/, /column "title": is missing/]],
    [
      'broken quotes behind wrong cells',
      'title,priority\nwrong,x\n"wrong,1\n',
      'invalid_input',
      [/^line 2, column "priority"/, 'line 3: a quoted cell begins here and is not closed'],
    ],
    ['too many rows', `title\n${'a\n'.repeat(100_001)}`, 'limit_exceeded', ['it has more than 100000 rows; split it']],
    ['too many bytes', `title\n${'a'.repeat(4_194_305)}\n`, 'limit_exceeded', [/^it is larger than 4 MB; split it/]],
    ['no rows', '', 'invalid_input', ['line 1: the header is missing']],
  ])('with %s writes nothing and says why', async (_about, document, code, problems) => {
    const before = await asOwner(world, 'select count(*)::int as tasks from tasks');
    const { id } = await startImport(world, owner, client, document === '' ? '\n' : document);
    const failed = await ended(client, 'imports', id);
    expect(failed).toMatchObject({ status: 'failed', error_code: code, done_rows: 0 });
    expect(failed.error_message).toMatch(/^Nothing was imported\. .*\.$/s);
    expect(failed.error_message).toContain(failed.problems?.[0]);
    const howToChange =
      'import with the action update (updateBulkCSV…) and the column "id" or "displayId" or "externalId".';
    expect(failed.error_message?.endsWith(howToChange)).toBe(code === 'already_exists');
    expect(failed.problems).toHaveLength(problems.length);
    for (const [index, problem] of problems.entries()) expect(failed.problems?.[index]).toMatch(problem);
    expect(await asOwner(world, 'select count(*)::int as tasks from tasks')).toEqual(before);
    const events = await asOwner(world, `select payload from events where entity_id = $1 and topic = 'import.failed'`, [
      id,
    ]);
    expect(events).toEqual([{ payload: { code } }]);
  });

  test('has the rights that the person has while it runs', async () => {
    const member = await buildPerson(world, { organization: owner.organization, role: 'member' });
    const their = await signedIn(world, member);
    const content = await storedUpload(world, member, {
      bytes: Buffer.from('title\nlost\n'),
      name: 'a.csv',
      contentType: 'text/csv',
    });
    await world.reconfigure({ CORE_WORKFLOWS_DISPATCH_ENABLED: 'false' });
    const { body } = await their.post('/v1/imports', { record_kind: 'task', content });
    const [membership] = await asOwner<{ id: string }>(
      world,
      'select id from memberships where user_id = $1 and deleted_at is null and organization_id = $2',
      [member.user.id, owner.organization.id],
    );
    expect(
      (await client.request({ method: 'DELETE', url: `/v1/memberships/${membership?.id}`, headers: await csrf() }))
        .status,
    ).toBe(204);
    await world.reconfigure({ CORE_WORKFLOWS_DISPATCH_ENABLED: 'true' });
    world.runtime.wakeRelays();
    const status = await eventually(async () => {
      const [row] = await asOwner<{ status: string; error_code: string }>(
        world,
        'select status, error_code from imports where id = $1',
        [body.id],
      );
      return row?.status === 'failed' && row;
    });
    expect(status.error_code).toBe('permission_denied');
    expect(await countOf('lost')).toBe(0);
  });

  test('writes nothing when its person loses the organization while it runs', async () => {
    const member = await buildPerson(world, { organization: owner.organization, role: 'member' });
    const their = await signedIn(world, member);
    const waiting = world.runtime.database.unitOfWork({
      caller: systemCaller('test', owner.organization.id),
      requestId: newId(),
      deadline: Date.now() + 60_000,
    });
    await waiting.data.create(task, { title: 'in the way', externalId: 'waited for' });
    await waiting.flush();
    const { id } = await startImport(world, member, their, 'title,externalId\nlost rights,waited for\n');
    await waitForLocks(world, 1);
    const { body } = await client.get(`/v1/memberships?user_id=${member.user.id}`);
    expect((await client.mutate({ method: 'DELETE', url: `/v1/memberships/${body.data[0].id}` })).status).toBe(204);
    await waiting.rollback();
    const row = await eventually(async () => {
      const [found] = await asOwner<{ status: string; error_code: string }>(
        world,
        'select status, error_code from imports where id = $1',
        [id],
      );
      return found?.status !== 'running' && found;
    });
    expect(row).toEqual({ status: 'failed', error_code: 'permission_denied' });
    expect(await countOf('lost rights')).toBe(0);
  });

  test('is seen by nobody else, not even by owners', async () => {
    const member = await buildPerson(world, { organization: owner.organization, role: 'member' });
    const their = await signedIn(world, member);
    const { id } = await startImport(world, member, their, 'title\nmine\n');
    await ended(their, 'imports', id);
    expectProblem(await client.get(`/v1/imports/${id}`), 'not_found');
    expectProblem(await client.post(`/v1/imports/${id}/restart`), 'not_found');
  });
});

describe('a request for an import', () => {
  const upload = (person: Person, text = 'title\na\n') =>
    storedUpload(world, person, { bytes: Buffer.from(text), name: 'a.csv', contentType: 'text/csv' });
  test.each([
    ['an unknown kind', { record_kind: 'tusk' }, 'invalid_input', 'did you mean "task"?'],
    [
      'a kind of no organization',
      { record_kind: 'user' },
      'invalid_input',
      'is a kind that belongs to no organization',
    ],
    ['a kind that nobody creates so', { record_kind: 'membership' }, 'invalid_input', 'cannot be create'],
  ] as const)('of %s is refused at once', async (_about, values, code, message) => {
    const answer = await client.post('/v1/imports', { ...values, content: await upload(owner) });
    expectProblem(answer, code);
    expect(JSON.stringify(answer.body)).toContain(message.replaceAll('"', '\\"'));
  });

  test('with the file of somebody else, or of another type, is refused', async () => {
    const stranger = await buildPerson(world);
    expectProblem(
      await client.post('/v1/imports', { record_kind: 'task', content: await upload(stranger) }),
      'not_found',
    );
    const image = await storedUpload(world, owner, {
      bytes: Buffer.from('x'),
      name: 'a.png',
      contentType: 'image/png',
    });
    expectProblem(await client.post('/v1/imports', { record_kind: 'task', content: image }), 'file_type_refused');
  });
});

test('a cancelled import writes nothing, and can be started again', async () => {
  await world.reconfigure({ CORE_WORKFLOWS_DISPATCH_ENABLED: 'false' });
  const { id } = await startImport(world, owner, client, 'title\nagain\n');
  expect((await client.post(`/v1/imports/${id}/cancel`)).body).toMatchObject({ status: 'cancelled' });
  expectProblem(await client.post(`/v1/imports/${id}/cancel`), 'rule_violated');
  await world.reconfigure({ CORE_WORKFLOWS_DISPATCH_ENABLED: 'true' });
  world.runtime.wakeRelays();
  await eventually(
    async () =>
      (
        await asOwner(
          world,
          `select 1 from event_deliveries d join events e on e.id = d.event_id
    where e.entity_id = $1 and d.state = 'done'`,
          [id],
        )
      ).length > 0,
  );
  expect(await countOf('again')).toBe(0);
  const { data, errors } = await client.graphql(
    'mutation ($id: ID!) { restartImport(id: $id) { import { status } } }',
    { id },
  );
  expect(errors).toBeUndefined();
  expect(data.restartImport.import.status).toBe('PENDING');
  expect(await ended(client, 'imports', id)).toMatchObject({ status: 'completed', done_rows: 1 });
  expect(await countOf('again')).toBe(1);
  expectProblem(await client.post(`/v1/imports/${id}/restart`), 'rule_violated');
});

async function csrf(): Promise<Record<string, string>> {
  const { cookie, header } = world.config.current.server.csrfprotection;
  return { [header]: client.cookies.get(cookie) ?? '' };
}

import { afterAll, beforeAll, expect, test } from 'vitest';
import { apiToken, personalAccessToken } from '#entities/index.ts';
import type { TokenSort } from '#entities/kit/model/scopes.ts';
import { asOwner } from '../../kit/as-owner.ts';
import { asSystem } from '../../kit/as-person.ts';
import { eventually } from '../../kit/eventually.ts';
import { expectProblem } from '../../kit/expect-problem.ts';
import { buildPerson, signedIn, type Person } from '../../kit/people.ts';
import { documentOf, ended, startExport } from '../../kit/events/started-transfers.ts';
import type { TestClient } from '../../kit/test-client.ts';
import { tokenProgram } from '../../kit/processes/token-program.ts';
import { openWorld, type World } from '../../kit/world.ts';

let world: World;
let owner: Person;
let client: TestClient;
beforeAll(async () => {
  world = await openWorld({
    worker: ['workflows', 'exports'],
    environment: { CORE_AUTH_TOKEN_APITOKENS_ENABLED: 'true', CORE_API_TOKEN_KEY_FIRST: 'f'.repeat(40) },
  });
  owner = await buildPerson(world);
  client = await signedIn(world, owner);
});
afterAll(() => world.close());

const sorts = ['api', 'personal'] as const;
const program = (sort: TokenSort, scopes: readonly string[]) =>
  tokenProgram(world, { sort, scopes, by: client, organizationId: owner.organization.id });

const upload = async (by: TestClient, text: string): Promise<string> => {
  const form = new FormData();
  form.set('uploadFile', new Blob([text], { type: 'text/csv' }), 'tasks.csv');
  const request = new Request('http://x', { method: 'POST', body: form });
  const { status, body } = await by.request({
    method: 'POST',
    url: '/v1/uploads',
    headers: { 'content-type': request.headers.get('content-type') ?? '' },
    payload: Buffer.from(await request.arrayBuffer()),
  });
  if (status !== 201) throw new Error(JSON.stringify(body));
  return body.uploads[0].id as string;
};
/** What happens between the start of an import and its run. */
const whileWaiting = async (by: TestClient, title: string, change: () => Promise<unknown>): Promise<string> => {
  await world.reconfigure({ CORE_WORKFLOWS_DISPATCH_ENABLED: 'false' });
  const { body } = await importOf(by, title);
  await change();
  await world.reconfigure({ CORE_WORKFLOWS_DISPATCH_ENABLED: 'true' });
  world.runtime.wakeRelays();
  return body.id as string;
};
/** Waits until the work has ended, which its token cannot see any more. */
const endOf = (id: string) =>
  eventually(async () => {
    const [row] = await asOwner<{ status: string; error_code: string; error_message: string }>(
      world,
      'select status, error_code, error_message from imports where id = $1',
      [id],
    );
    return !['pending', 'running'].includes(row?.status ?? '') && row;
  });
const importOf = async (by: TestClient, title: string) => {
  const payload = { record_kind: 'task', content: await upload(by, `title\n${title}\n`) };
  return by.request({ method: 'POST', url: '/v1/imports', payload });
};

test.each(sorts)('exports and imports of %s tokens need their scopes', async (sort) => {
  const token = await program(sort, ['task:write', 'export:read', 'import:read']);
  const exported = { method: 'POST', url: '/v1/exports', payload: { record_kind: 'task' } } as const;
  expectProblem(await token.request(exported), 'permission_denied');
  expectProblem(await importOf(token, 'x'), 'permission_denied');
});

test('a personal token downloads a document only with the scope to read the kind of its records', async () => {
  const { id } = await startExport(client, { record_kind: 'task' });
  const { content } = await ended(client, 'exports', id);
  const download = async (...scopes: string[]) =>
    (await program('personal', scopes)).get(`/v1/files/${content?.id}/download`);
  const refused = await download('export:read');
  expectProblem(refused, 'permission_denied');
  expect(refused.body.detail).toContain('task:read');
  expectProblem(await download('task:read'), 'not_found');
  expect((await download('export:read', 'task:read')).status).toBe(200);
});

test('exports and imports stay within the scopes for the records, also where they start again what a session began', async () => {
  const token = await program('personal', ['export:write', 'import:write']);
  expectProblem(await importOf(token, 'beyond the scopes'), 'permission_denied');
  const payload = { record_kind: 'task' };
  expectProblem(await token.request({ method: 'POST', url: '/v1/exports', payload }), 'permission_denied');
  expect(await asOwner(world, `select 1 from tasks where title = 'beyond the scopes'`)).toEqual([]);
  await world.reconfigure({ CORE_WORKFLOWS_DISPATCH_ENABLED: 'false' });
  const { id } = await startExport(client, payload);
  expect((await client.post(`/v1/exports/${id}/cancel`)).status).toBe(200);
  await world.reconfigure({ CORE_WORKFLOWS_DISPATCH_ENABLED: 'true' });
  world.runtime.wakeRelays();
  const again = { method: 'POST', url: `/v1/exports/${id}/restart`, payload: {} } as const;
  expect((await token.request(again)).status).toBe(200);
  expect(await ended(client, 'exports', id)).toMatchObject({ status: 'failed', error_code: 'permission_denied' });
  // In a session, the person has all rights again.
  expect((await client.post(again.url)).status).toBe(200);
  expect(await ended(client, 'exports', id)).toMatchObject({ status: 'completed' });
});

const tables = { api: 'api_tokens', personal: 'personal_access_tokens' } as const;
const narrow = (sort: TokenSort, id: string, scopes: string[]) =>
  asSystem(world, owner.organization.id, async (data) => {
    if (sort === 'api') await data.update(apiToken, id, { scopes });
    else await data.update(personalAccessToken, id, { scopes });
  });
const endings: readonly [string, (sort: TokenSort, id: string) => Promise<unknown>, string][] = [
  [
    'deleted',
    (sort, id) => client.mutate({ method: 'DELETE', url: `/v1/${tables[sort].replaceAll('_', '-')}/${id}` }),
    'is no longer valid here',
  ],
  [
    'expired',
    (sort, id) =>
      asOwner(world, `update ${tables[sort]} set expires_at = now() - interval '1 day' where id = $1`, [id]),
    'is no longer valid here',
  ],
  ['narrowed to other records', (sort, id) => narrow(sort, id, ['import:write', 'note:write']), 'task:write'],
  ['narrowed to no imports', (sort, id) => narrow(sort, id, ['task:write']), 'import:write'],
];
const cases = sorts.flatMap((sort) => endings.map((ending) => [sort, ...ending] as const));

test.each(cases)('exports and imports of %s tokens end with a token that is %s', async (sort, word, end, reason) => {
  const token = await program(sort, ['task:write', 'import:write']);
  const title = `of a ${sort} token that was ${word}`;
  const id = await whileWaiting(token, title, () => end(sort, token.id));
  const row = await endOf(id);
  expect(row).toMatchObject({ status: 'failed', error_code: 'permission_denied' });
  expect(row.error_message).toContain(reason);
  expect(await asOwner(world, 'select 1 from tasks where title = $1', [title])).toEqual([]);
});

test.each(sorts)(
  'exports and imports of %s tokens are imported, exported and downloaded with the scopes',
  async (sort) => {
    const token = await program(sort, ['task:write', 'import:write', 'export:write']);
    const { body } = await importOf(token, `by a program with one of ${sort}`);
    expect(await ended(token, 'imports', body.id)).toMatchObject({ status: 'completed', done_rows: 1 });
    const payload = { record_kind: 'task', filters: { title: { eq: `by a program with one of ${sort}` } } };
    const { body: exported } = await token.request({ method: 'POST', url: '/v1/exports', payload });
    const done = await ended(token, 'exports', exported.id);
    expect(done).toMatchObject({ status: 'completed', done_rows: 1 });
    expect(await documentOf(token, done)).toContain(`by a program with one of ${sort}`);
    expect((await token.get(`/v1/imports/${body.id}`)).body).toMatchObject({ status: 'completed' });
  },
);

test('exports and imports of API tokens belong to the token alone', async () => {
  const scopes = ['task:write', 'import:delete', 'export:delete', 'file:read'];
  const [token, another] = [await program('api', scopes), await program('api', scopes)];
  const { body } = await token.request({ method: 'POST', url: '/v1/exports', payload: { record_kind: 'task' } });
  expect(body).toMatchObject({ requestor_id: null });
  const done = await ended(token, 'exports', body.id);
  expect(done).toMatchObject({ status: 'completed', error_code: null });
  for (const other of [
    another,
    client,
    await signedIn(world, await buildPerson(world, { organization: owner.organization, role: 'admin' })),
  ]) {
    expectProblem(await other.get(`/v1/exports/${body.id}`), 'not_found');
    expect((await other.get(`/v1/files/${done.content?.id}/download`)).status).toBe(404);
    expectProblem(await other.mutate({ method: 'DELETE', url: `/v1/exports/${body.id}` }), 'not_found');
  }
  expectProblem(await client.post(`/v1/exports/${body.id}/restart`), 'not_found');
  // What people have started is theirs.
  const { id } = await startExport(client, { record_kind: 'task' });
  expectProblem(await token.get(`/v1/exports/${id}`), 'not_found');
  await ended(client, 'exports', id);
  const removed = await token.request({ method: 'DELETE', url: `/v1/exports/${body.id}` });
  expect(removed.status).toBe(204);
});

test('exports and imports of an API token have its rights only: a kind without a scope is refused, and scopes for nothing else are needed', async () => {
  const token = await program('api', ['note:read', 'export:write']);
  const of = (kind: string) => token.request({ method: 'POST', url: '/v1/exports', payload: { record_kind: kind } });
  expectProblem(await of('task'), 'permission_denied');
  expect(await ended(token, 'exports', (await of('note')).body.id)).toMatchObject({ status: 'completed' });
});

test('exports and imports of API tokens are cancelled and started again by the token, and are limited in number', async () => {
  const token = await program('api', ['task:read', 'export:write']);
  const start = () => token.request({ method: 'POST', url: '/v1/exports', payload: { record_kind: 'task' } });
  await world.reconfigure({ CORE_WORKFLOWS_DISPATCH_ENABLED: 'false' });
  const { body } = await start();
  for (let count = 1; count < 20; count++) expect((await start()).status).toBe(201);
  expectProblem(await start(), 'limit_exceeded');
  // Those of others are counted apart.
  expect(
    (
      await (
        await program('api', ['task:read', 'export:write'])
      ).request({ method: 'POST', url: '/v1/exports', payload: { record_kind: 'task' } })
    ).status,
  ).toBe(201);
  const steer = (verb: string) => token.request({ method: 'POST', url: `/v1/exports/${body.id}/${verb}`, payload: {} });
  expect((await steer('cancel')).body).toMatchObject({ status: 'cancelled' });
  expect((await steer('restart')).status).toBe(200);
  await world.reconfigure({ CORE_WORKFLOWS_DISPATCH_ENABLED: 'true' });
  world.runtime.wakeRelays();
  expect(await ended(token, 'exports', body.id)).toMatchObject({ status: 'completed' });
});

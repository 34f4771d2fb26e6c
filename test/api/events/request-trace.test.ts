import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { runOperatorCommand } from '#tools/commands/operator-commands.ts';
import { task } from '#entities/index.ts';
import { newId } from '#entities/kit/base/ids.ts';
import { systemCaller } from '#entities/kit/model/caller.ts';
import { asOwner } from '../../kit/as-owner.ts';
import { enroll } from '../../kit/identity/authenticator.ts';
import { notingListener } from '../../kit/events/event-fixtures.ts';
import { eventually } from '../../kit/eventually.ts';
import { expectProblem } from '../../kit/expect-problem.ts';
import { buildPerson, signedIn, type Person } from '../../kit/people.ts';
import { inviteToken } from '../../kit/identity/verification-token.ts';
import type { Instance } from '../../kit/world.ts';
import type { TestClient } from '../../kit/test-client.ts';
import { openWorld, type World } from '../../kit/world.ts';

const listener = notingListener('noting', ['task.created'], () => {});

let world: World;
let instance: Instance;
let owner: Person;
let client: TestClient;
/** An id that requests of two organizations have: it is the caller's choice. */
const requestId = `shared-${newId()}`;
let taskId: string;
let foreignTaskId: string;
let stranger: Person;

/** Creates a task with a request of that id. */
async function createTask(by: TestClient, title: string): Promise<string> {
  const answer = await by.post('/v1/tasks', { title }, { 'x-request-id': requestId });
  expect(answer.status, JSON.stringify(answer.body)).toBe(201);
  return answer.body.id;
}

/** Signs in at the instance that knows where the Temporal UI is: the session is the same everywhere. */
async function at(person: Person): Promise<TestClient> {
  const by = instance.client();
  by.bearer = (await signedIn(world, person)).cookies.get('access_token') ?? '';
  return by;
}

beforeAll(async () => {
  world = await openWorld({ worker: true, listeners: [listener] });
  instance = await world.openInstance({ temporalUi: 'https://temporal.example/base' });
  owner = await buildPerson(world);
  stranger = await buildPerson(world);
  client = await at(owner);
  taskId = await createTask(client, '<script>alert("title")</script>');
  foreignTaskId = await createTask(await at(stranger), 'of somebody else');
});
afterAll(() => world.close());

const url = `/trace/${requestId}`;

/** The trace once its event is delivered and Temporal lists the run. */
async function complete(by: TestClient, runs = 1) {
  return eventually(async () => {
    const { status, body } = await by.get(url);
    expect(status, JSON.stringify(body)).toBe(200);
    const done = body.events.flatMap((event: { deliveries: { status: string }[] }) => event.deliveries);
    return done.length > 0 && body.runs?.length >= runs && body;
  });
}

test('managers see what a request has changed and caused in their organization, up to its workflows', async () => {
  const body = await complete(client);
  expect(body.changes).toEqual([
    expect.objectContaining({
      kind: 'task',
      record_id: taskId,
      organization_id: owner.organization.id,
      operation: 'created',
      version: 1,
      fields: expect.arrayContaining(['title']),
      actor: `user:${owner.user.id}`,
    }),
  ]);
  const [event, ...others] = body.events.filter(({ type }: { type: string }) => type === 'task.created');
  expect(others).toEqual([]);
  expect(event).toMatchObject({ record_id: taskId, trace_id: expect.stringMatching(/^[0-9a-f]{32}$/) });
  expect(event.deliveries).toContainEqual(expect.objectContaining({ listener: 'noting', status: 'done', error: null }));
  const [run] = body.runs;
  expect(run).toMatchObject({ type: 'deliverEvents', status: expect.any(String) });
  expect(run.url).toBe(
    `https://temporal.example/base/namespaces/${encodeURIComponent(world.runtime.temporal.settings.namespace)}/workflows/${encodeURIComponent(run.workflow_id)}/${run.run_id}/history`,
  );
  // Values are in the history, for those who may read the record.
  expect(JSON.stringify(body)).not.toContain('alert');
});

describe('the request has a method, a route and a status', () => {
  const traceOf = async (by: TestClient, id: string) => {
    const { status, body } = await by.get(`/trace/${id}`);
    expect(status, JSON.stringify(body)).toBe(200);
    return body.request;
  };
  const withId = (id: string, more = {}) => ({ 'x-request-id': id, ...more });

  test('of REST, where the route has the names of parameters instead of their values', async () => {
    expect(await traceOf(client, requestId)).toEqual({ method: 'POST', route: '/v1/tasks', status: 201 });
    const id = newId();
    expect(
      (
        await client.mutate({
          method: 'PATCH',
          url: `/v1/tasks/${taskId}`,
          payload: { title: 'changed' },
          headers: withId(id),
        })
      ).status,
    ).toBe(200);
    // It succeeds with 200, or with 202 if the change is held, which is not known when its events are recorded.
    expect(await traceOf(client, id)).toEqual({ method: 'PATCH', route: '/v1/tasks/:id', status: null });
  });

  test('of GraphQL', async () => {
    const id = newId();
    const query = 'mutation { createTask(input: { title: "by GraphQL" }) { task { id } } }';
    expect((await client.post('/graphql', { query }, withId(id))).body.errors).toBeUndefined();
    expect(await traceOf(client, id)).toEqual({ method: 'POST', route: '/graphql', status: 200 });
  });

  test('of the first of two requests with the same key; the second has changed nothing', async () => {
    const [first, second] = [newId(), newId()];
    for (const id of [first, second]) {
      const answer = await client.post('/v1/tasks', { title: 'once' }, withId(id, { 'idempotency-key': first }));
      expect(answer.status).toBe(201);
    }
    expect(await traceOf(client, first)).toEqual({ method: 'POST', route: '/v1/tasks', status: 201 });
    expectProblem(await client.get(`/trace/${second}`), 'not_found');
  });

  test('without a status where it was refused, and none where a worker acted by itself', async () => {
    const id = newId();
    const { email: recipient } = stranger.user;
    expect((await client.post('/v1/invites', { recipient })).status).toBe(201);
    const token = await inviteToken(world, recipient);
    await asOwner(world, 'update invites set expires_at = $2 where recipient = $1', [recipient, new Date(0)]);
    expectProblem(await (await at(stranger)).post('/v1/invite/accept', { token }, withId(id)), 'token_expired');
    expect(await traceOf(client, id)).toEqual({ method: 'POST', route: '/v1/invite/accept', status: null });

    const context = { caller: systemCaller('test', owner.organization.id), requestId: newId() };
    await world.runtime.database.transact(context, ({ data }) =>
      data.create(task, { organizationId: owner.organization.id, title: 'by a worker' }),
    );
    expect(await traceOf(client, context.requestId)).toBeNull();
  });
});

describe('the trace of a request of another organization', () => {
  test('nothing is shown, although its request has the same id', async () => {
    const [own, theirs] = [await complete(client), await complete(await at(stranger))];
    for (const [body, mine, foreign] of [
      [own, [taskId, owner], [foreignTaskId, stranger]],
      [theirs, [foreignTaskId, stranger], [taskId, owner]],
    ] as const) {
      const text = JSON.stringify(body);
      expect(text).toContain(mine[0]);
      expect(text).not.toContain(foreign[0]);
      expect(text).not.toContain(foreign[1].organization.id);
      expect(text).not.toContain(foreign[1].user.id);
    }
  });

  test('a request is answered as one that does not exist', async () => {
    const secret = `secret-${newId()}`;
    const by = await at(stranger);
    await by.post('/v1/tasks', { title: 'theirs' }, { 'x-request-id': secret });
    expect((await by.get(`/trace/${secret}`)).status).toBe(200);
    const foreign = await client.get(`/trace/${secret}`);
    const unknown = await client.get(`/trace/unknown-${secret.slice(8)}`);
    expectProblem(foreign, 'not_found');
    expectProblem(unknown, 'not_found');
    const comparable = ({ body }: typeof foreign) =>
      JSON.stringify({ ...body, request_id: '', instance: '' }).replaceAll(/(?:secret|unknown)-\w+/g, 'id');
    expect(comparable(foreign)).toBe(comparable(unknown));
  });
});

describe('rights', () => {
  test('members and auditors are refused, whatever the id; who is not signed in is nobody', async () => {
    for (const role of ['member', 'auditor'] as const) {
      const by = await at(await buildPerson(world, { organization: owner.organization, role }));
      for (const path of [url, `/trace/${newId()}`]) expectProblem(await by.get(path), 'permission_denied');
    }
    expectProblem(await instance.client().get(url), 'unauthenticated');
    // Browsers get a page that leads to the sign-in.
    const accept = 'text/html,application/xhtml+xml';
    for (const [by, path, status, said] of [
      [instance.client(), url, 401, 'This page is for people who are signed in.'],
      [client, `/trace/${newId()}`, 404, 'No request with this id has changed anything'],
    ] as const) {
      const page = await by.get(path, { accept });
      expect(page).toMatchObject({ status, headers: { 'content-type': 'text/html; charset=utf-8' } });
      expect(page.body).toContain(said);
      expect(page.body).toContain('<a class="button" href="/v1/login">Sign in</a>');
    }
    const admin = await at(await buildPerson(world, { organization: owner.organization, role: 'admin' }));
    expect((await admin.get(url)).status).toBe(200);
  });

  test('operators of the installation see all organizations, with a second factor; without it they are who they are', async () => {
    const person = await buildPerson(world);
    const home = await signedIn(world, person);
    const grant = { name: 'grant', person: person.user.id, by: 'a test', reason: 'a test' } as const;
    expect(await runOperatorCommand(grant, { runtime: world.runtime, print: () => {} })).toBe(true);
    expectProblem(await home.get(url), 'not_found');
    await enroll(world, home);
    const body = await complete(home);
    const records = body.changes.map(({ record_id }: { record_id: string }) => record_id);
    expect(new Set(records)).toEqual(new Set([taskId, foreignTaskId]));
    // This instance does not know where the Temporal UI is.
    expect(body.runs.every((run: { url: unknown }) => run.url === null)).toBe(true);
    expectProblem(await home.get(`/trace/${newId()}`), 'not_found');
    // Links of the page lead to what the operator may see.
    const { body: html } = await home.get(url, { accept: 'text/html' });
    const links = Array.from(String(html).matchAll(/href="(\/v1\/[^"]+)"/g), ([, to]) => to ?? '');
    expect(new Set(links.map((to) => to.replace(/[^/]+$/, '')))).toEqual(new Set(['/v1/operations/events/']));
    for (const to of links) expect((await home.get(to)).status, to).toBe(200);
    expect(html).toContain(foreignTaskId);
  });
});

describe('the page', () => {
  test('is what browsers get: without scripts and styles of its own, with everything as text', async () => {
    await complete(client);
    const answer = await client.get(url, { accept: 'text/html,application/xhtml+xml' });
    expect(answer.status).toBe(200);
    expect(answer.headers['content-type']).toBe('text/html; charset=utf-8');
    expect(String(answer.headers['vary'])).toContain('Accept');
    const html: string = answer.body;
    expect(html).toContain(taskId);
    for (const cell of ['Method"><span>POST', 'Route"><span>/v1/tasks', 'Status"><span>201'])
      expect(html).toContain(`<td data-title="${cell}</span></td>`);
    expect(html).toContain('href="https://temporal.example/base/namespaces/');
    expect(html).not.toMatch(/<script|<style|\sstyle=|\son\w+=|javascript:/i);
    // What it loads is on this server.
    expect(
      [...html.matchAll(/(?:src|href)="([^"]+)"/g)]
        .map(([, to]) => to)
        .filter((to) => !to?.startsWith('https://temporal.example/')),
    ).toEqual([
      '/docs/style.css',
      ...['tasks', 'users', 'events', 'tasks', 'users', 'events'].map((kind) =>
        expect.stringMatching(new RegExp(`^/v1/${kind}/[0-9A-Z]{26}$`)),
      ),
    ]);
  });

  test.each(['<img src=x onerror=alert(1)>', '"><b>', 'a b'])('an id %s stays text', async (id) => {
    const answer = await client.get(`/trace/${encodeURIComponent(id)}`, { accept: 'text/html' });
    expect(answer).toMatchObject({ status: 404, headers: { 'content-type': expect.stringContaining('text/html') } });
    expect(answer.body).toContain('This did not work');
    for (const markup of ['<img', '<b>']) expect(answer.body).not.toContain(markup);
  });
});

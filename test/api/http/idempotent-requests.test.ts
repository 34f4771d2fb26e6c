import { createHash } from 'node:crypto';
import { dirname } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { newId } from '#entities/kit/base/ids.ts';
import { asOwner } from '../../kit/as-owner.ts';
import { timesOf } from '../../kit/depth.ts';
import { eventually } from '../../kit/eventually.ts';
import { expectProblem } from '../../kit/expect-problem.ts';
import { buildPerson, signedIn, testPassword, type Person } from '../../kit/people.ts';
import { ProductProcess } from '../../kit/processes/spawned-process.ts';
import { runSchedule } from '../../kit/sweep.ts';
import type { TestAnswer, TestClient } from '../../kit/test-client.ts';
import { openWorld, type Instance, type World } from '../../kit/world.ts';

const dayMs = 86_400_000;

let world: World;
let other: Instance;
let owner: Person;
let member: Person;
let ownerClient: TestClient;
let memberClient: TestClient;

beforeAll(async () => {
  world = await openWorld({
    environment: { CORE_AUTH_TOKEN_APITOKENS_ENABLED: 'true', CORE_API_TOKEN_KEY_FIRST: 'f'.repeat(40) },
  });
  other = await world.openInstance();
  owner = await buildPerson(world);
  member = await buildPerson(world, { organization: owner.organization, role: 'member' });
  ownerClient = await signedIn(world, owner);
  memberClient = await signedIn(world, member);
});
afterAll(() => world.close());

const createWith = (client: TestClient, key: string, title: string) =>
  client.post('/v1/tasks', { title }, { 'idempotency-key': key });

const mutation = 'mutation ($input: CreateTaskInput!) { createTask(input: $input) { task { id title } } }';

function mutateWith(client: TestClient, key: string, title: string, query = mutation): Promise<TestAnswer> {
  return client.post('/graphql', { query, variables: { input: { title } } }, { 'idempotency-key': key });
}

async function tasks(title: string): Promise<number> {
  const [row] = await asOwner<{ count: number }>(world, 'select count(*)::int from tasks where title = $1', [title]);
  return row?.count ?? 0;
}

const keptAnswers = async () =>
  (await asOwner<{ count: number }>(world, 'select count(*)::int from idempotent_requests'))[0]?.count;

/** What two answers must agree in. */
const essence = ({ status, headers, body }: TestAnswer) => ({
  status,
  body,
  type: headers['content-type'],
  etag: headers['etag'],
  location: headers['location'],
});

test('a request that is sent again has no further effect and gets the same answer', async () => {
  const title = newId();
  const first = await createWith(ownerClient, 'again', title);
  expect(first.status).toBe(201);
  expect(first.headers).not.toHaveProperty('idempotency-replayed');
  // The draft encloses keys in quotation marks.
  for (const key of ['again', '"again"']) {
    const again = await createWith(ownerClient, key, title);
    expect(essence(again)).toEqual(essence(first));
    expect(again.headers['idempotency-replayed']).toBe('true');
  }
  // The answer is the one of then, also when the record has changed.
  await ownerClient.mutate({ method: 'PATCH', url: `/v1/tasks/${first.body.id}`, payload: { priority: 'high' } });
  expect(essence(await createWith(ownerClient, 'again', title))).toEqual(essence(first));
  expect(await tasks(title)).toBe(1);
});

test('the same over GraphQL', async () => {
  const title = newId();
  const first = await mutateWith(ownerClient, 'mutation', title);
  expect(first.body.data.createTask.task.title).toBe(title);
  const again = await mutateWith(ownerClient, 'mutation', title);
  expect(essence(again)).toEqual(essence(first));
  expect(again.headers['idempotency-replayed']).toBe('true');
  expect(await tasks(title)).toBe(1);
  const reused = await mutateWith(ownerClient, 'mutation', 'another');
  expect(reused.body).toMatchObject({ data: null, errors: [{ extensions: { code: 'idempotency_key_reused' } }] });
  // A key of a mutation is none of a route.
  expect((await createWith(ownerClient, 'mutation', title)).status).toBe(201);
});

test('a document and its hash are the same request', async () => {
  const title = newId();
  const sha256Hash = createHash('sha256').update(mutation).digest('hex');
  const extensions = { persistedQuery: { version: 1, sha256Hash } };
  const variables = { input: { title } };
  const headers = { 'idempotency-key': 'hashed' };
  const first = await ownerClient.post('/graphql', { query: mutation, variables, extensions }, headers);
  const again = await ownerClient.post('/graphql', { variables, extensions }, headers);
  expect(again.headers['idempotency-replayed']).toBe('true');
  expect(again.body).toEqual(first.body);
  expect(await tasks(title)).toBe(1);
});

const sends = [
  ['REST', createWith, ({ body }: TestAnswer) => body.code],
  ['GraphQL', mutateWith, ({ body }: TestAnswer) => body.errors?.[0].extensions.code],
] as const;

for (const [protocol, send, codeOf] of sends)
  test(`an answer is sent again only to whoever still has the rights to it, over ${protocol}`, async () => {
    const withheld = 'idempotency_answer_withheld';
    const title = newId();
    const admin = await buildPerson(world, { organization: owner.organization, role: 'admin' });
    const client = await signedIn(world, admin);
    await send(client, 'rights', title);
    expect((await send(client, 'rights', title)).headers['idempotency-replayed']).toBe('true');
    // With less rights, and with the former ones again.
    await setRole(admin, 'member');
    const refusal = await send(client, 'rights', title);
    expect(codeOf(refusal)).toBe(withheld);
    expect(refusal.body.detail ?? refusal.body.errors[0].message).toContain('"rights" has had its effect');
    expect(JSON.stringify(refusal.body)).not.toContain(title);
    await setRole(admin, 'admin');
    expect((await send(client, 'rights', title)).headers['idempotency-replayed']).toBe('true');
    // Nobody views a record that was deleted.
    const [row] = await asOwner<{ id: string }>(world, 'select id from tasks where title = $1', [title]);
    await ownerClient.mutate({ method: 'DELETE', url: `/v1/tasks/${row?.id}` });
    expect(codeOf(await send(client, 'rights', title))).toBe(withheld);
    expect(await tasks(title)).toBe(1);
  });

async function setRole({ user }: Person, role: string): Promise<void> {
  const [row] = await asOwner<{ id: string }>(world, 'select id from memberships where user_id = $1', [user.id]);
  const url = `/v1/memberships/${row?.id}`;
  expect((await ownerClient.mutate({ method: 'PATCH', url, payload: { role } })).status).toBe(200);
}

test('a deletion is answered again', async () => {
  const { body } = await ownerClient.post('/v1/tasks', { title: newId() });
  const query = `mutation { deleteTask(id: "${body.id}") { deletedId } }`;
  const send = () => ownerClient.post('/graphql', { query }, { 'idempotency-key': 'deletion' });
  const first = await send();
  const again = await send();
  expect(first.body.data).toBeTruthy();
  expect(again.body).toEqual(first.body);
  expect(again.headers['idempotency-replayed']).toBe('true');
});

for (const [protocol, send, idOf] of [
  ['REST', createWith, ({ body }: TestAnswer) => body.id],
  ['GraphQL', mutateWith, ({ body }: TestAnswer) => body.data?.createTask.task.id],
] as const)
  test(`of 50 requests at two processes at once, over ${protocol}, one has an effect`, async () => {
    const there = await signedIn({ ...world, client: () => other.client() }, owner);
    for (let round = 0; round < 3; round++) {
      const title = newId();
      const key = `race ${title}`.replaceAll(' ', '-');
      const answers = await Promise.all(
        Array.from({ length: 50 }, (_, count) => send(count % 2 === 0 ? ownerClient : there, key, title)),
      );
      const ids = new Set(answers.map(idOf).filter((id) => id !== undefined));
      expect(ids.size).toBe(1);
      for (const answer of answers.filter((one) => idOf(one) === undefined)) {
        if (protocol === 'REST') expectProblem(answer, 'idempotency_key_in_use');
        else expect(answer.body.errors[0].extensions.code).toBe('idempotency_key_in_use');
      }
      expect(await tasks(title)).toBe(1);
      expect(idOf(await send(there, key, title))).toBe([...ids][0]);
    }
  });

test('a key stands for one request: another body, or another path, is refused', async () => {
  const title = newId();
  await createWith(ownerClient, 'one-request', title);
  const reused = await createWith(ownerClient, 'one-request', `${title} `);
  expectProblem(reused, 'idempotency_key_reused');
  expect(reused.body.detail).toContain('"one-request"');
  expect(await tasks(title)).toBe(1);
  // Another route has keys of its own.
  const note = await ownerClient.post('/v1/groups', { name: newId() }, { 'idempotency-key': 'one-request' });
  expect(note.status).toBe(201);
});

test('the key of another caller, or of the same one in another organization, is another key', async () => {
  const title = newId();
  const first = await createWith(ownerClient, 'shared-key', title);
  const second = await createWith(memberClient, 'shared-key', title);
  expect(second.status).toBe(201);
  expect(second.body.id).not.toBe(first.body.id);
  const elsewhere = await buildPerson(world);
  const third = await createWith(await signedIn(world, elsewhere), 'shared-key', title);
  expect(third.status).toBe(201);

  const token = await ownerClient.post('/v1/api-tokens', { name: 'program', scopes: ['task:write', 'task:read'] });
  const program = world.client();
  program.bearer = token.body.token;
  const fourth = await createWith(program, 'shared-key', title);
  expect({ status: fourth.status, replayed: fourth.headers['idempotency-replayed'] }).toEqual({ status: 201 });
  // A personal token that may do nothing does not get what its person was answered.
  const personal = await ownerClient.post('/v1/personal-access-tokens', { name: 'reader', scopes: ['group:read'] });
  const reader = world.client();
  reader.bearer = personal.body.token;
  expect((await createWith(reader, 'shared-key', title)).status).toBe(403);
  expect(await tasks(title)).toBe(4);

  const another = await ownerClient.post('/v1/organizations', { name: newId() });
  await ownerClient.post('/v1/switch', { target_organization_id: another.body.id });
  expect((await createWith(ownerClient, 'shared-key', title)).status).toBe(201);
  expect(await tasks(title)).toBe(5);
  await ownerClient.post('/v1/switch', { target_organization_id: owner.organization.id });
});

test('errors are not kept', async () => {
  const title = newId();
  const before = await keptAnswers();
  const wrong = await ownerClient.post('/v1/tasks', { title, nonsense: 1 }, { 'idempotency-key': 'wrong-first' });
  expectProblem(wrong, 'invalid_input');
  const missing = { title, parent_id: newId() };
  expect((await ownerClient.post('/v1/tasks', missing, { 'idempotency-key': 'wrong-first' })).status).toBe(404);
  const query = 'mutation { createTask(input: { title: "" }) { task { id } } }';
  expect((await mutateWith(ownerClient, 'wrong-first', title, query)).body.errors).toHaveLength(1);
  expect(await keptAnswers()).toBe(before);
  expect((await createWith(ownerClient, 'wrong-first', title)).status).toBe(201);
  expect((await mutateWith(ownerClient, 'wrong-first', title)).body.data.createTask.task.title).toBe(title);
  expect(await tasks(title)).toBe(2);
});

test('a key that cannot be one is refused', async () => {
  const title = newId();
  for (const key of ['', '""', 'two words', 'x'.repeat(256), 'ключ', 'a"b']) {
    const answer = await createWith(ownerClient, Buffer.from(key).toString('latin1'), title);
    expectProblem(answer, 'invalid_input', key);
    expect(answer.body.errors).toEqual([{ path: '/Idempotency-Key', message: expect.stringContaining('1 to 255') }]);
  }
  expect(await tasks(title)).toBe(0);
});

test('answers are sealed, and keys are refused where answers have credentials', async () => {
  const title = newId();
  await createWith(ownerClient, 'sealed', title);
  const rows = await asOwner<{ row: string }>(world, 'select r::text as row from idempotent_requests r');
  expect(rows.length).toBeGreaterThan(0);
  for (const { row } of rows) expect(row).not.toContain(title);

  const before = await keptAnswers();
  const headers = { 'idempotency-key': 'credential' };
  const counts = () => asOwner<{ count: number }>(world, 'select count(*)::int from api_tokens');
  const tokensBefore = await counts();
  const posts = {
    '/v1/api-tokens': { name: newId(), scopes: ['task:read'] },
    '/v1/switch': { target_organization_id: owner.organization.id },
    '/v1/login': { username: owner.user.email, password: testPassword },
    '/v1/refresh': {},
    '/v1/webhook-portal/links': {},
  };
  for (const [url, body] of Object.entries(posts)) {
    const refusal = await ownerClient.post(url, body, headers);
    expectProblem(refusal, 'invalid_input', url);
    expect(refusal.body.errors, url).toEqual([
      { path: '/Idempotency-Key', message: expect.stringContaining('cannot be sent here') },
    ]);
  }
  const query =
    'mutation { createTask(input: { title: "t" }) { task { id } } ... on Mutation { createApiToken(input: { name: "n", scopes: ["task:read"] }) { token } } }';
  const mixed = await ownerClient.post('/graphql', { query }, headers);
  expect(mixed.body.errors[0].message).toContain('createApiToken answers with a credential');
  const form = new FormData();
  form.set('operations', JSON.stringify({ query: mutation, variables: { input: { title } } }));
  form.set('map', '{}');
  const encoded = new Response(form);
  const withFiles = await ownerClient.post('/graphql', Buffer.from(await encoded.arrayBuffer()), {
    ...headers,
    'content-type': encoded.headers.get('content-type') ?? '',
  });
  expect(withFiles.body.errors[0].message).toContain('upload them first');
  expect(await counts()).toEqual(tokensBefore);
  expect(await keptAnswers()).toBe(before);
});

test('without a key, and for reads, nothing is kept', async () => {
  const before = await keptAnswers();
  await ownerClient.post('/v1/tasks', { title: newId() });
  await ownerClient.get('/v1/tasks', { 'idempotency-key': 'read' });
  await ownerClient.post('/graphql', { query: '{ tasks { totalCount } }' }, { 'idempotency-key': 'read' });
  expect(await keptAnswers()).toBe(before);
});

test('an answer that was lost with its process is sent again by another one', async () => {
  const bearer = ownerClient.cookies.get('access_token') ?? '';
  const dyingAt = async (point: string) => {
    const api = new ProductProcess({
      program: 'api/api-main.ts',
      environment: {
        ...world.environment,
        STACK_STATE_DIR: dirname(world.mailFolder),
        FAILPOINTS: `${point}=kill@0`,
      },
    });
    await api.ready;
    const url = await eventually(() => api.url || undefined);
    return async (key: string, title: string) => {
      await fetch(`${url}/v1/tasks`, {
        method: 'POST',
        headers: { authorization: `Bearer ${bearer}`, 'content-type': 'application/json', 'idempotency-key': key },
        body: JSON.stringify({ title }),
      }).catch(() => undefined);
      expect(await api.ended).toMatchObject({ signal: 'SIGKILL' });
    };
  };
  const deaths = [
    ['after-commit', true],
    ['before-commit', false],
  ] as const;
  // Each starts a process.
  for (const [point, isThere] of deaths.slice(0, timesOf({ sample: 1, prove: 2 }))) {
    const title = newId();
    await (
      await dyingAt(point)
    )(`crash-${title}`, title);
    expect(await tasks(title), point).toBe(isThere ? 1 : 0);
    const client = world.client();
    client.bearer = bearer;
    // PostgreSQL ends the transaction of a process that died when it notices.
    const answer = await eventually(async () => {
      const sent = await createWith(client, `crash-${title}`, title);
      return sent.status !== 409 && sent;
    });
    expect({ status: answer.status, replayed: answer.headers['idempotency-replayed'] }).toEqual({
      status: 201,
      replayed: isThere ? 'true' : undefined,
    });
    expect(await tasks(title), point).toBe(1);
  }
});

test('an idempotency key is a new one after a day, and the sweep deletes the kept answer', async () => {
  const title = newId();
  await createWith(ownerClient, 'a-day', title);
  // The processes of other tests have clocks of their own, which have gone on.
  world.clock.advance(dayMs + 3_600_000);
  const later = await signedIn(world, owner);
  const answer = await createWith(later, 'a-day', title);
  expect({ status: answer.status, replayed: answer.headers['idempotency-replayed'] }).toEqual({ status: 201 });
  expect(await tasks(title)).toBe(2);
  expect(await keptAnswers()).toBeGreaterThan(1);
  await world.startWorker();
  await runSchedule(world, 'remove-files');
  expect(await keptAnswers()).toBe(1);
});

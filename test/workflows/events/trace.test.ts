import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { OtlpCollector, type CollectedSpan } from '../../kit/fakes/otlp-collector.ts';
import { eventually } from '../../kit/eventually.ts';
import { tokenIn, waitForMails } from '../../kit/mailbox.ts';
import { buildPerson, testPassword } from '../../kit/people.ts';
import { startRedisServer, type RedisServer } from '../../kit/servers/redis-server.ts';
import { ProductProcess } from '../../kit/processes/spawned-process.ts';
import { shows } from '../../kit/shows.ts';
import { openWorld, type World } from '../../kit/world.ts';

let world: World;
let collector: OtlpCollector;
let api: ProductProcess;
let worker: ProductProcess;
let redis: RedisServer | string;
beforeAll(async () => {
  [world, collector, redis] = await Promise.all([openWorld(), OtlpCollector.start(), startRedisServer()]);
  const environment = {
    ...world.environment,
    OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
    CORE_DB_DATABASENAME: 'core-eu-1',
    ...(typeof redis === 'string' ? {} : cacheAt(redis.url)),
  };
  api = new ProductProcess({ program: 'api/api-main.ts', environment });
  worker = new ProductProcess({ program: 'worker/worker-main.ts', environment });
  await Promise.all([api.ready, worker.ready]);
  // The word that it is ready may be quicker than the line that says where.
  await eventually(() => api.url !== '');
});
afterAll(async () => {
  await Promise.all([api.stop(), worker.stop()]);
  await collector.close();
  if (typeof redis !== 'string') await redis.stop();
  await world.close();
});

const cacheAt = ({ host, password }: URL): Record<string, string> => ({
  CORE_CACHE_ENABLED: 'true',
  CORE_CACHE_ADDRESS: host,
  CORE_CACHE_PASSWORD: decodeURIComponent(password),
});

/** What a browser sends along, with the CSRF token. */
async function browserHeaders(): Promise<Record<string, string>> {
  const first = await fetch(`${api.url}/livez`);
  const cookie = (first.headers.getSetCookie()[0] ?? '').split(';', 1)[0] as string;
  return {
    'content-type': 'application/json',
    cookie,
    'x-csrf-token': cookie.slice(cookie.indexOf('=') + 1),
  };
}

/** A request as a browser sends it, and the request id of its answer. */
async function post(path: string, body: object, headers: Record<string, string> = {}): Promise<string> {
  const answer = await fetch(`${api.url}${path}`, {
    method: 'POST',
    headers: { ...(await browserHeaders()), ...headers },
    body: JSON.stringify(body),
  });
  expect(answer.status).toBeLessThan(300);
  return answer.headers.get('x-request-id') as string;
}

/** The span of a request. */
const requestSpan = (requestId: string): CollectedSpan | undefined =>
  collector.spans.find((span) => span.name.startsWith('POST') && span.attributes['request.id'] === requestId);

/** The trace a request began or continued, when the mail it caused has left. */
async function traceOf(requestId: string): Promise<{ readonly root: CollectedSpan; readonly spans: CollectedSpan[] }> {
  return eventually(() => {
    const root = requestSpan(requestId);
    const spans = root ? collector.of(root.traceId) : [];
    const sent = spans.find((span) => span.name === 'activity deliverEmail');
    return root !== undefined && spans.some((span) => span.parentSpanId === sent?.spanId) && { root, spans };
  });
}

interface GraphqlAnswer {
  readonly data?: { readonly createTask: { readonly task: { readonly id: string } } } | null;
}

/** Names from a span up to the root of what was collected. */
function wayUp(spans: readonly CollectedSpan[], from: CollectedSpan): string[] {
  const parent = spans.find((span) => span.spanId === from.parentSpanId);
  return [from.name, ...(parent ? wayUp(spans, parent) : [])];
}

const password = 'canary-password-Tr4ce-horse-battery';

describe('a sign-up', () => {
  const email = 'canary-trace@example.com';
  let requestId: string;
  let trace: Awaited<ReturnType<typeof traceOf>>;
  beforeAll(async () => {
    requestId = await post('/v1/register', { email, password, first_name: 'Canaryname' });
    trace = await traceOf(requestId);
  });

  test('is one trace from the request through the outbox to the last activity, over both processes', () => {
    const { root, spans } = trace;
    expect(root).toMatchObject({ name: 'POST /v1/register', service: 'core-api', parentSpanId: '' });
    const ids = new Set(spans.map((span) => span.spanId));
    expect(spans.filter((span) => span !== root && !ids.has(span.parentSpanId))).toEqual([]);
    expect(new Set(spans.map((span) => span.service))).toEqual(new Set(['core-api', 'core-worker']));
    const activity = spans.find((span) => span.name === 'activity deliverEmail') as CollectedSpan;
    expect(wayUp(spans, activity)).toEqual(['activity deliverEmail', 'deliver mail-verification', 'POST /v1/register']);
  });

  test('names the database by db.databasename in its statements, and so do the metrics', async () => {
    shows('db.databasename');
    const statements = trace.spans.filter((span) => span.name.startsWith('sql '));
    expect(new Set(statements.map(({ service }) => service))).toEqual(new Set(['core-api', 'core-worker']));
    expect(new Set(statements.map(({ attributes }) => attributes['db.namespace']))).toEqual(new Set(['core-eu-1']));
    const metrics = await (await fetch(api.metricsUrl)).text();
    expect(metrics).toContain('core_database_statement_duration_seconds_count{database="core-eu-1"}');
  });

  test('has the statements of the request, of the listener and of the activity, each below its own span', () => {
    const { spans } = trace;
    const ways = spans.filter((span) => span.name.startsWith('sql ')).map((span) => wayUp(spans, span).join(' < '));
    expect(ways).toContain('sql commit < POST /v1/register');
    expect(ways).toContain('sql select < deliver mail-verification < POST /v1/register');
    expect(ways).toContain('sql select < activity deliverEmail < deliver mail-verification < POST /v1/register');
  });

  test('is found by the request id, which its spans and the log lines of both processes carry', async () => {
    const { root, spans } = trace;
    const own = spans.filter((span) => !span.name.startsWith('sql '));
    expect(own.map((span) => span.attributes['request.id'])).toEqual(own.map(() => requestId));
    const line = await eventually(() => api.logs.find((entry) => entry['request_id'] === requestId));
    expect(line['trace_id']).toBe(root.traceId);
  });

  test('tells no value: neither address nor password nor name nor the token of the mail', async () => {
    const [mail] = await waitForMails(world, email);
    const token = tokenIn(mail as string);
    for (const secret of [email, 'canary-trace', password, 'Canaryname', token])
      expect(collector.received.includes(secret), secret).toBe(false);
    expect(collector.spans.filter((span) => span.name.startsWith('sql insert')).length).toBeGreaterThan(0);
  });
});

test('a GraphQL operation has a span for itself, its root fields, and what these ask OpenFGA, the cache and PostgreSQL', async (context) => {
  const owner = await buildPerson(world);
  const member = await buildPerson(world, { organization: owner.organization, role: 'member' });
  const tokenOf = async (email: string) => {
    const answer = await fetch(`${api.url}/v1/login`, {
      method: 'POST',
      headers: await browserHeaders(),
      body: JSON.stringify({ username: email, password: testPassword }),
    });
    expect(answer.status).toBe(200);
    return ((await answer.json()) as { access_token: string }).access_token;
  };
  const ask = async (token: string, query: string) => {
    const headers = { 'content-type': 'application/json', authorization: `Bearer ${token}` };
    const answer = await fetch(`${api.url}/graphql`, { method: 'POST', headers, body: JSON.stringify({ query }) });
    return { requestId: answer.headers.get('x-request-id') ?? '', body: (await answer.json()) as GraphqlAnswer };
  };
  const tokens = { owner: await tokenOf(owner.user.email), member: await tokenOf(member.user.email) };
  const created = await ask(
    tokens.owner,
    `mutation { createTask(input: { title: "x", assigneeId: "${member.user.id}" }) { task { id } } }`,
  );
  const id = created.body.data?.createTask.task.id ?? '';
  expect(id, JSON.stringify(created.body)).not.toBe('');
  const changed = await ask(tokens.member, `mutation { updateTask(id: "${id}", input: { title: "y" }) { updatedId } }`);
  const listed = await ask(tokens.member, '{ tasks { totalCount } }');

  const waysOf = (requestId: string, name: string) =>
    eventually(() => {
      const root = requestSpan(requestId);
      const spans = root ? collector.of(root.traceId) : [];
      const found = spans.filter((span) => span.name === name);
      return found.length > 0 && found.map((span) => wayUp(spans, span).slice(1));
    });
  const below = (type: string, field: string) => [`field ${field}`, `graphql ${type} ${field}`, 'POST /graphql'];
  expect(await waysOf(changed.requestId, 'authorization check')).toContainEqual(below('mutation', 'updateTask'));
  expect(await waysOf(changed.requestId, 'sql update')).toContainEqual(below('mutation', 'updateTask'));
  expect((await waysOf(listed.requestId, 'field tasks'))[0]).toEqual(['graphql query tasks', 'POST /graphql']);
  if (typeof redis === 'string') context.skip(redis);
  expect(await waysOf(changed.requestId, 'cache allow look-up')).toContainEqual(below('mutation', 'updateTask'));
});

test('a trace that came with the request goes on', async () => {
  const traceId = randomBytes(16).toString('hex');
  const spanId = randomBytes(8).toString('hex');
  const requestId = await post(
    '/v1/register',
    { email: 'continued@example.com', password },
    { traceparent: `00-${traceId}-${spanId}-01` },
  );
  const { root } = await traceOf(requestId);
  expect(root).toMatchObject({ traceId, parentSpanId: spanId });
});

test('two requests at the same time have a trace each, although their events may share a batch', async () => {
  const [first, second] = await Promise.all(
    ['one@example.com', 'other@example.com'].map((email) => post('/v1/register', { email, password })),
  );
  const traces = await Promise.all([first, second].map((requestId) => traceOf(requestId as string)));
  expect(traces[0]?.root.traceId).not.toBe(traces[1]?.root.traceId);
  for (const [index, { spans }] of traces.entries()) {
    const own = [first, second][index];
    const ids = spans.map((span) => span.attributes['request.id']).filter((id) => id !== undefined);
    expect(new Set(ids)).toEqual(new Set([own]));
  }
});

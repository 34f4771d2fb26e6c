import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { Health } from '#api/http/readiness.ts';
import { newId } from '#entities/kit/base/ids.ts';
import { asOwner } from '../../kit/as-owner.ts';
import { announce } from '../../kit/events/event-fixtures.ts';
import { eventually } from '../../kit/eventually.ts';
import { fragileListener } from '../../kit/events/failing-deliveries.ts';
import { buildPerson, signedIn, type Person } from '../../kit/people.ts';
import { scrape, valueOf } from '../../kit/processes/scrape.ts';
import type { TestClient } from '../../kit/test-client.ts';
import { openWorld, type World } from '../../kit/world.ts';

const listener = fragileListener('measured', 'measured.changed');

let world: World;
let person: Person;
let client: TestClient;
let metricsUrl: string;
beforeAll(async () => {
  // What is left behind is what the metrics are to show.
  world = await openWorld({ listeners: [listener], skipVerify: true });
  person = await buildPerson(world);
  client = await signedIn(world, person);
  ({ metricsUrl } = await world.listen());
});
afterAll(() => world.close());

const read = () => scrape(metricsUrl);

describe('GraphQL operations', () => {
  test('are measured by type and root field, whatever callers name them', async () => {
    for (let index = 0; index < 5; index++)
      await client.graphql(`query Named${newId()} { alias${index}: tasks { totalCount } }`);
    await client.graphql(`{ tasks { totalCount } notes { totalCount } }`);
    await client.graphql(`mutation { createTask(input: { title: "measured" }) { task { id } } }`);
    await client.graphql(`{ task(id: "${newId()}") { id } }`);
    const found = await read();
    const operations = [...found.values.keys()].filter((key) =>
      key.startsWith('core_graphql_operations_executed_total'),
    );
    expect(operations.filter((key) => /Named|alias/.test(key))).toEqual([]);
    const count = (...labels: string[]) => valueOf(found, 'core_graphql_operations_executed_total', ...labels);
    expect(count('type="query"', 'operation="tasks"', 'outcome="ok"')).toBe(5);
    expect(count('type="query"', 'operation="several"')).toBe(1);
    expect(count('type="mutation"', 'operation="createTask"', 'outcome="ok"')).toBe(1);
    expect(count('type="query"', 'operation="task"', 'outcome="refused"')).toBe(1);
    expect(valueOf(found, 'core_graphql_operation_duration_seconds_count', 'operation="tasks"')).toBe(5);
  });

  test('that are refused before anything runs are counted by code', async () => {
    for (const query of ['{', '{ nope }', `{ nope${newId()} }`]) await client.graphql(query);
    const found = await read();
    const codes = [...found.values.keys()].filter((key) => key.startsWith('core_graphql_rejections_total'));
    expect(codes).toEqual(['core_graphql_rejections_total{code="invalid_input"}']);
    expect(valueOf(found, 'core_graphql_rejections_total')).toBe(3);
  });
});

test('requests, statements, units of work, connections and OpenFGA are measured', async () => {
  const created = await client.post('/v1/tasks', { title: 'a task' });
  const member = await buildPerson(world, { organization: person.organization, role: 'member' });
  const by = await signedIn(world, member);
  // The rights of a member to a record of somebody else are decided by the store.
  await by.mutate({ method: 'PATCH', url: `/v1/tasks/${created.body.id}`, payload: { title: 'changed' } });
  const found = await read();
  expect(valueOf(found, 'core_http_requests_total', 'route="/v1/tasks"', 'method="POST"', 'status="201"')).toBe(1);
  expect(valueOf(found, 'core_http_requests_in_flight')).toBe(0);
  expect(valueOf(found, 'core_unit_of_work_duration_seconds_count', 'mode="write"', 'committed')).toBeGreaterThan(0);
  expect(valueOf(found, 'core_database_statement_duration_seconds_count')).toBeGreaterThan(0);
  expect(valueOf(found, 'core_database_connections', 'status="max"')).toBe(8);
  // The one that reads the backlog for this scrape.
  expect(valueOf(found, 'core_database_connections', 'status="in_use"')).toBeLessThan(3);
  expect(valueOf(found, 'core_authorization_store_duration_seconds_count', 'outcome="answered"')).toBeGreaterThan(0);
  expect(valueOf(found, 'core_authorization_decisions_total')).toBeGreaterThan(0);
  expect(valueOf(found, 'process_resident_memory_bytes')).toBeGreaterThan(0);
});

describe('the format', () => {
  const accept = 'application/openmetrics-text;version=1.0.0,text/plain;version=0.0.4;q=0.5';

  test('is OpenMetrics for those who accept it, with the trace of a request as exemplar', async () => {
    await client.get('/v1/tasks');
    const line = await eventually(() => world.logs.findLast((entry) => entry['route'] === '/v1/tasks'));
    const answer = await fetch(metricsUrl, { headers: { accept } });
    expect(answer.headers.get('content-type')).toContain('application/openmetrics-text');
    const text = await answer.text();
    expect(text).toMatch(/^# TYPE core_http_requests counter$/m);
    expect(text).toMatch(/^core_http_requests_total\{/m);
    expect(text.endsWith('# EOF\n')).toBe(true);
    // A counter has the name of its family without `_total`, which nothing else may have.
    const families = [...text.matchAll(/^# TYPE (\S+) /gm)].map(([, name]) => name);
    expect(families.filter((name, index) => families.indexOf(name) !== index)).toEqual([]);
    const bucket = text.match(/^core_http_request_duration_seconds_bucket\{.*route="\/v1\/tasks".* # (\{[^}]*\}) /gm);
    expect(bucket?.some((found) => found.includes(`trace_id="${String(line['trace_id'])}"`))).toBe(true);
  });

  test('is the text format of Prometheus for all others, also after that', async () => {
    const answer = await fetch(metricsUrl);
    expect(answer.headers.get('content-type')).toContain('text/plain');
    const text = await answer.text();
    expect(text).toMatch(/^# TYPE core_http_requests_total counter$/m);
    expect(text).not.toMatch(/ # \{|# EOF/);
    for (const line of text.trimEnd().split('\n'))
      expect(line).toMatch(/^(?:# (?:HELP|TYPE) [\w:]+ .+|[a-zA-Z_:][\w:]*(?:\{.*\})? (?:[\d.e+-]+|Nan|\+Inf))$/);
  });
});

test('the backlog is what waits: events, failing and held deliveries, tuples and messages', async () => {
  const before = await read();
  expect(valueOf(before, 'core_backlog_known')).toBe(1);
  const [eventId] = [newId()];
  await announce(world, [{ topic: 'measured.changed', entityId: eventId, organizationId: person.organization.id }]);
  await asOwner(
    world,
    `insert into event_deliveries (occurred_at, event_id, entity_id, listener, state, updated_at)
     select now(), $1, $1, 'measured', state, now() from unnest(array['failing']) as state`,
    [newId()],
  );
  world.clock.advance(120_000);
  const after = await eventually(async () => {
    const found = await read();
    return valueOf(found, 'core_deliveries_open', 'listener="measured"', 'status="failing"') === 1 && found;
  });
  expect(valueOf(after, 'core_outbox_events', 'status="waiting"')).toBeGreaterThan(0);
  expect(valueOf(after, 'core_outbox_lag_seconds')).toBeGreaterThanOrEqual(120);
  expect(valueOf(after, 'core_listeners_held')).toBe(0);
});

test('/readyz says with ?verbose how long each dependency took, and since when it is as it is', async () => {
  const plain = await client.get('/readyz');
  expect(plain.body.checks.db_primary).toEqual({ status: 'up' });
  for (const url of ['/readyz?verbose', '/readyz?verbose=1', '/ready?verbose']) {
    const { status, body } = await client.get(url);
    expect(status).toBe(200);
    for (const name of ['db_primary', 'fga', 'job_queue'])
      expect(body.checks[name], `${url} ${name}`).toEqual({
        status: 'up',
        latency_ms: expect.any(Number),
        since: expect.stringMatching(/^\d{4}-.*Z$/),
      });
  }
});

test('a status has its instant until it changes', async () => {
  let isUp = true;
  const health = new Health({ thing: () => (isUp ? Promise.resolve() : Promise.reject(new Error('away'))) });
  const since = async () => (await health.report()).checks['thing'];
  const first = await since();
  expect((await since())?.since).toBe(first?.since);
  isUp = false;
  const second = await since();
  expect(second).toMatchObject({ status: 'down', reason: 'unreachable' });
  expect(second?.since).not.toBe(first?.since);
  expect((await since())?.since).toBe(second?.since);
});

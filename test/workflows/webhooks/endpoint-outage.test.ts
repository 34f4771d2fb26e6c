// Takes turns by the seed: npm test has some of these files, npm run prove has all.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { asOwner } from '../../kit/as-owner.ts';
import { createdEndpoint, verified, type TestEndpoint } from '../../kit/events/created-endpoint.ts';
import { eventually } from '../../kit/eventually.ts';
import { WebhookSink } from '../../kit/fakes/webhook-sink.ts';
import { buildPerson, signedIn, type Person } from '../../kit/people.ts';
import type { TestClient } from '../../kit/test-client.ts';
import { openWorld, type World } from '../../kit/world.ts';

const hourMs = 3_600_000;
/** Time between two changes while the endpoint is away, in hours. */
const step = 6;
const days = 5;

let world: World;
let owner: Person;
let client: TestClient;
beforeAll(async () => {
  world = await openWorld({ worker: true, environment: { CORE_WORKFLOWS_WEBHOOKALLOWPRIVATEADDRESSES: 'true' } });
  owner = await buildPerson(world);
  client = await signedIn(world, owner);
});
afterAll(() => world.close());

const newTask = async (title: string): Promise<string> => (await client.post('/v1/tasks', { title })).body.id as string;
const statesOf = async ({ id }: TestEndpoint) =>
  (
    await asOwner<{ state: string }>(world, 'select distinct state from webhook_messages where endpoint_id = $1', [id])
  ).map(({ state }) => state);
const attemptsOf = async ({ id }: TestEndpoint) =>
  (await asOwner(world, 'select 1 from webhook_attempts where endpoint_id = $1', [id])).length;

/** Time passes, also for the session. */
async function pass(ms: number): Promise<void> {
  world.clock.advance(ms);
  client = await signedIn(world, owner);
}

test('an outage of five days: one attempt at a time, people are told, and afterwards each message comes once, in order', async () => {
  const before = await WebhookSink.open();
  const port = Number(new URL(before.url).port);
  // All that waits may be sent at once: the clock stands still.
  const endpoint = await createdEndpoint(client, before, { max_per_second: 1_000 });
  const tasks = [await newTask('first'), await newTask('second')];
  await eventually(() => before.received.length === tasks.length);
  await eventually(async () => (await statesOf(endpoint)).join() === 'delivered');
  await before.close();

  // Nobody listens there: attempts end at once. What happens meanwhile is about known records and about new ones.
  let attempts = await attemptsOf(endpoint);
  for (let hours = 0; hours < days * 24; hours += step) {
    for (const id of tasks)
      await client.mutate({ method: 'PATCH', url: `/v1/tasks/${id}`, payload: { title: `after ${hours} hours` } });
    await newTask(`new after ${hours} hours`);
    await eventually(async () => (await attemptsOf(endpoint)) > attempts);
    const { body } = await client.get(endpoint.path);
    expect(body, `after ${hours} hours`).toMatchObject({ status: 'enabled', disabled_reason: null });
    // What is due makes an attempt as soon as time has passed.
    attempts = await attemptsOf(endpoint);
    await pass(step * hourMs);
  }
  await newTask('the last one');
  await eventually(async () => (await client.get(endpoint.path)).body.status === 'disabled');
  const { body: disabled } = await client.get(endpoint.path);
  expect(disabled).toMatchObject({ disabled_reason: 'failing', disabled_at: expect.any(String) });
  const topics = await eventually(async () => {
    const { body } = await client.get('/v1/notifications?first=100');
    const found = body.data.map(({ topic }: { readonly topic: string }) => topic) as string[];
    return found.includes('webhook_endpoint.disabled') && found;
  });
  const told = topics.filter((topic) => topic.startsWith('webhook_endpoint.'));
  expect(told.toSorted()).toEqual(['webhook_endpoint.disabled', 'webhook_endpoint.failing']);
  // After the first failures, there was one attempt every half an hour at most, and none lasted.
  expect(await attemptsOf(endpoint)).toBeLessThan(tasks.length + 10 + (days * 24) / step + 10);
  await newTask('while it is disabled');

  const after = await WebhookSink.open(port);
  const waiting = await asOwner<{ event_id: string }>(
    world,
    `select event_id from webhook_messages where endpoint_id = $1 and state <> 'delivered'`,
    [endpoint.id],
  );
  expect(waiting.length).toBeGreaterThan((days * 24) / step);
  await client.mutate({ method: 'PATCH', url: endpoint.path, payload: { status: 'enabled' } });
  const since = new Date(world.clock.now().getTime() - (days + 1) * 24 * hourMs).toISOString();
  const { body: replayed } = await client.post(`${endpoint.path}/replay`, { since });
  expect(replayed).toEqual({ replayed_count: waiting.length + tasks.length, next: null });
  await eventually(async () => (await statesOf(endpoint)).join() === 'delivered');
  const ids = after.received.map((message) => verified(message, endpoint.secret, world.clock.now()));
  expect(new Set(ids)).toEqual(
    new Set([...waiting.map(({ event_id: id }) => id), ...before.received.map(({ headers }) => headers['webhook-id'])]),
  );
  expect(ids).toHaveLength(new Set(ids).size);
  for (const [id, messages] of Map.groupBy(after.bodies, ({ data }) => data['id'])) {
    const versions = messages.map(({ data }) => data['version'] as number);
    expect(versions, String(id)).toEqual(versions.map((_version, index) => index + 1));
  }
  await after.close();
});

import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { firstIdAt, newId } from '#entities/kit/base/ids.ts';
import { verifyInstallation } from '#tools/commands/verify.ts';
import { asOwner } from '../kit/as-owner.ts';
import { buildPerson } from '../kit/people.ts';
import { openWorld, type World } from '../kit/world.ts';

/** Without a worker, whose relay would take up what is planted. */
let world: World;
beforeAll(async () => {
  // It is broken on purpose, which the check at the end would rightly find.
  world = await openWorld({ skipVerify: true, environment: { CORE_WORKFLOWS_DISPATCH_ENABLED: 'false' } });
});
afterAll(() => world.close());
beforeEach(async () => {
  for (const table of [
    'webhook_messages',
    'webhook_attempts',
    'webhook_queues',
    'webhook_endpoints',
    'emails',
    'account_emails',
  ])
    await asOwner(world, `delete from ${table}`);
});

const start = new Date();
const at = (seconds: number) => new Date(start.getTime() + seconds * 1_000);

/** What is found about endpoints and e-mails. */
async function found(isQuiet = true): Promise<string[]> {
  const lines = await verifyInstallation(world.runtime, { isQuiet });
  return lines.filter((line) => /endpoint|e-mail/.test(line) && !/record_kinds|history/.test(line));
}

async function plantEndpoint(ordering: 'record' | 'none' = 'record'): Promise<string> {
  const { organization } = await buildPerson(world);
  const id = newId();
  await asOwner(
    world,
    `insert into webhook_endpoints (id, created_at, updated_at, created_by, updated_by, record_version, organization_id, name, name_form, url,
       topics, scopes, ordering, max_in_flight, max_per_second, includes_record, status, secret)
     values ($1, $2, $2, 'system:test', 'system:test', 1, $3, $1, $1, 'https://example.com', '{*}', '{task:read}', $4, 5, 50, false, 'enabled', 's')`,
    [id, at(-1_000), organization.id, ordering],
  );
  return id;
}

interface Planted {
  readonly state?: 'due' | 'delivered';
  readonly entityId?: string;
  readonly version?: number;
  readonly isReplayed?: boolean;
  readonly hasEvent?: boolean;
  readonly topic?: string;
}

/** A message, by default with its event. @returns the id of the event */
async function plantMessage(
  endpointId: string,
  {
    state = 'delivered',
    entityId = newId(),
    version = 1,
    isReplayed = false,
    hasEvent = true,
    topic = 'task.updated',
  }: Planted,
): Promise<string> {
  const eventId = newId();
  await asOwner(
    world,
    `insert into webhook_messages (endpoint_id, event_id, organization_id, topic, entity_kind, entity_id, record_version, request_id,
       occurred_at, payload, state, due_at, updated_at, replayed_at)
     values ($1, $2, 'o', $3, 'task', $4, $5, 'r', $6, '{}', $7, $8, $6, $9)`,
    [
      endpointId,
      eventId,
      topic,
      entityId,
      version,
      at(version),
      state,
      state === 'due' ? at(0) : null,
      isReplayed ? at(500) : null,
    ],
  );
  if (hasEvent)
    await asOwner(
      world,
      `insert into events (id, occurred_at, topic, entity_kind, entity_id, record_version, actor, request_id, payload, pending)
       values ($1, $2, 'verify.planted', 'verify', $3, $4, 'test', 'r', '{}', false)`,
      [eventId, at(version), entityId, version],
    );
  return eventId;
}

const plantAttempt = (endpointId: string, eventId: string, seconds: number, status = 204) =>
  asOwner(world, `insert into webhook_attempts values ($1, $2, $3, 'task.updated', 1, $4, 20, $5, null, '')`, [
    `${firstIdAt(at(seconds)).slice(0, 20)}${newId().slice(20)}`,
    endpointId,
    eventId,
    at(seconds),
    status,
  ]);

test('messages that are due and that nobody sends', async () => {
  const endpoint = await plantEndpoint();
  await plantMessage(endpoint, { state: 'due' });
  await plantMessage(endpoint, { state: 'due' });
  world.clock.advance(5_000);
  expect(await found()).toEqual([
    `endpoint ${endpoint} has messages that are due, but its workflow ${world.name}/webhook/${endpoint} is MISSING`,
  ]);
  // They may be on their way.
  expect(await found(false)).toEqual([]);
  await asOwner(world, `insert into webhook_queues (endpoint_id, next_at) values ($1, $2)`, [endpoint, at(10_000)]);
  expect(await found()).toEqual([]);
});

test('a message that is about no event, unless its day is gone, and tests', async () => {
  const endpoint = await plantEndpoint();
  await plantMessage(endpoint, {});
  await plantMessage(endpoint, { hasEvent: false, topic: 'webhook_endpoint.tested' });
  expect(await found()).toEqual([]);
  const eventId = await plantMessage(endpoint, { hasEvent: false });
  expect(await found()).toEqual([
    `message to endpoint ${endpoint} is about event ${eventId} (task.updated), which does not exist`,
  ]);
  await asOwner(world, `update webhook_messages set occurred_at = $1 where event_id = $2`, [at(-20 * 86_400), eventId]);
  expect(await found()).toEqual([]);
});

test('an event that was sent again after it had arrived, although nobody asked for it', async () => {
  const endpoint = await plantEndpoint();
  const twice = await plantMessage(endpoint, {});
  const replayed = await plantMessage(endpoint, { isReplayed: true });
  const retried = await plantMessage(endpoint, {});
  await plantAttempt(endpoint, retried, 10, 500);
  for (const seconds of [20, 30]) for (const id of [twice, replayed]) await plantAttempt(endpoint, id, seconds);
  await plantAttempt(endpoint, retried, 40);
  expect(await found()).toEqual([
    `event ${twice} was sent to endpoint ${endpoint} again after it had arrived, and nobody asked for it`,
  ]);
});

test('an event from before the last change of the URL that was sent afterwards', async () => {
  const endpoint = await plantEndpoint();
  await asOwner(world, 'update webhook_endpoints set url_changed_at = $1', [at(50)]);
  const before = await plantMessage(endpoint, { state: 'delivered' });
  const after = await plantMessage(endpoint, { version: 60 });
  await plantAttempt(endpoint, before, 40);
  await plantAttempt(endpoint, after, 90);
  expect(await found()).toEqual([]);
  const leaked = await plantMessage(endpoint, {});
  await plantAttempt(endpoint, leaked, 90);
  expect(await found()).toEqual([
    `event ${leaked} was sent to endpoint ${endpoint} at a URL that the endpoint has got after it`,
  ]);
});

test('events of one record that arrived in another order', async () => {
  const [ordered, free] = [await plantEndpoint(), await plantEndpoint('none')];
  const plant = async (endpoint: string, more: Planted = {}) => {
    const entityId = newId();
    const first = await plantMessage(endpoint, { entityId, version: 1, ...more });
    const second = await plantMessage(endpoint, { entityId, version: 2 });
    await plantAttempt(endpoint, second, 20);
    await plantAttempt(endpoint, first, 30);
    return { first, second };
  };
  await plant(free);
  await plant(ordered, { isReplayed: true });
  const { first, second } = await plant(ordered);
  expect(await found()).toEqual([
    `event ${second} reached endpoint ${ordered} before event ${first} of the same record`,
  ]);
});

test('an e-mail that nobody sends, and one whose text is kept after its end', async () => {
  const plantEmail = async (state: string, content: string | null) => {
    const id = newId();
    await asOwner(
      world,
      `insert into account_emails (id, created_at, updated_at, created_by, updated_by, record_version, key, template, status, attempts, content, topics)
       values ($1, $2, $2, 'system:test', 'system:test', 1, $1, 'welcome', $3, 1, $4, '{}')`,
      [id, at(0), state, content],
    );
    return id;
  };
  await plantEmail('sent', null);
  const waiting = await plantEmail('waiting', 'sealed');
  const kept = await plantEmail('delivered', 'sealed');
  expect(await found()).toEqual([
    `e-mail ${kept} (welcome) is delivered, but its text is still kept`,
    `e-mail ${waiting} (welcome) is waiting, but its workflow ${world.name}/email/${waiting} is MISSING`,
  ]);
});

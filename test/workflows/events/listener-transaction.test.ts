import { afterAll, beforeAll, expect, test } from 'vitest';
import { membership, organizationSetting, user } from '#entities/index.ts';
import type { Listener } from '#activities/listeners/listener.ts';
import { newId } from '#entities/kit/base/ids.ts';
import { asOwner } from '../../kit/as-owner.ts';
import {
  announce,
  isSettled,
  notingListener,
  storedDeliveries,
  storedEvents,
} from '../../kit/events/event-fixtures.ts';
import { eventually } from '../../kit/eventually.ts';
import { buildPerson, type Person } from '../../kit/people.ts';
import { openWorld, type World } from '../../kit/world.ts';

/** What the listener does next. */
let act: Listener['deliver'] = () => {};
const listener = notingListener('acting', ['act.wanted'], (delivery) => act(delivery));
const traceparent = `00-${'ab'.repeat(16)}-${'cd'.repeat(8)}-01`;
let world: World;
let home: Person;
let foreign: Person;
beforeAll(async () => {
  world = await openWorld({
    worker: true,
    listeners: [listener],
    environment: { CORE_WORKFLOWS_DISPATCH_MAXRETRIES: '1', CORE_JOBQUEUE_QUEUECONF_MAXATTEMPTS: '1' },
  });
  home = await buildPerson(world);
  foreign = await buildPerson(world);
  await eventually(() => isSettled(world));
});
afterAll(() => world.close());

/** Announces an event of the home organization and waits until the listener has dealt with it. */
async function deliver(work: Listener['deliver']): Promise<{ requestId: string; state: string }> {
  act = work;
  const entityId = newId();
  const requestId = await announce(world, [{ topic: 'act.wanted', entityId, organizationId: home.organization.id }], {
    traceparent,
  });
  const [delivery] = await eventually(async () => {
    const rows = await storedDeliveries(world, 'acting', entityId);
    return rows.length > 0 && rows;
  });
  act = () => {};
  const id = `${world.name}/event/${delivery?.eventId}/acting`;
  if (delivery?.state === 'failing') {
    const handle = world.runtime.temporal.client.workflow.getHandle(id);
    await eventually(() => handle.signal('skipDelivery').then(() => true));
    await handle.result();
  }
  return { requestId, state: delivery?.state ?? '' };
}

test('the changes of a listener and its delivery commit together', async () => {
  const { state } = await deliver(async ({ unit }) => {
    await unit.data.update(user, home.user.id, { displayName: 'renamed by a listener' });
  });
  expect(state).toBe('done');
  expect(await asOwner(world, 'select display_name from users where id = $1', [home.user.id])).toEqual([
    { display_name: 'renamed by a listener' },
  ]);
});

test('a listener that throws after writing leaves nothing', async () => {
  const { state } = await deliver(async ({ unit }) => {
    await unit.data.update(user, home.user.id, { displayName: 'half done' });
    await unit.flush();
    throw new Error('after writing');
  });
  expect(state).toBe('failing');
  expect(await asOwner(world, `select 1 from users where display_name = 'half done'`)).toEqual([]);
  expect(await asOwner(world, `select 1 from history where snapshot::text like '%half done%'`)).toEqual([]);
});

test('a listener that hides a failed statement fails all the same', async () => {
  const { state } = await deliver(async ({ unit }) => {
    await unit.data.create(organizationSetting, { organizationId: home.organization.id, billingEmail: null });
    await unit.flush().catch(() => {});
  });
  expect(state).toBe('failing');
});

test('what a listener changes carries the request, the trace and the organization of its event', async () => {
  const { requestId } = await deliver(async ({ unit }) => {
    const held = await unit.data.findOne(membership, { organizationId: { eq: home.organization.id } });
    await unit.data.update(membership, held?.id ?? '', { role: 'owner' });
    await unit.data.update(user, home.user.id, { displayName: 'traced' });
    unit.emit({
      topic: 'act.followed',
      entityKind: 'act',
      entityId: newId(),
      recordVersion: 1,
      organizationId: home.organization.id,
    });
  });
  const [history] = await asOwner<{ requestId: string; actor: string }>(
    world,
    `select request_id as "requestId", actor from history where snapshot->>'displayName' = 'traced'`,
  );
  expect(history).toEqual({ requestId, actor: 'system:listener acting' });
  const [followed] = await asOwner<{ requestId: string; traceparent: string; organizationId: string }>(
    world,
    `select request_id as "requestId", traceparent, organization_id as "organizationId" from events where topic = 'act.followed'`,
  );
  expect(followed).toMatchObject({ requestId, organizationId: home.organization.id });
  // The same trace, from the span of the delivery on.
  expect(followed?.traceparent).toMatch(new RegExp(`^00-${'ab'.repeat(16)}-(?!${'cd'.repeat(8)})[0-9a-f]{16}-01$`));
});

test('each event of a batch is worked on for its own request', async () => {
  const seen: string[] = [];
  act = async ({ unit, event }) => {
    unit.emit({
      topic: 'act.echoed',
      entityKind: 'act',
      entityId: event.entityId,
      recordVersion: 1,
      organizationId: null,
    });
    seen.push(event.entityId);
  };
  await world.reconfigure({ CORE_WORKFLOWS_DISPATCH_ENABLED: 'false' });
  const asked = new Map<string, string>();
  for (let index = 0; index < 5; index++) {
    const entityId = newId();
    asked.set(
      entityId,
      await announce(world, [{ topic: 'act.wanted', entityId, organizationId: home.organization.id }]),
    );
  }
  await world.reconfigure({ CORE_WORKFLOWS_DISPATCH_ENABLED: undefined });
  await eventually(() => isSettled(world));
  act = () => {};
  const echoed = new Map((await storedEvents(world, 'act.echoed')).map((event) => [event.entityId, event.requestId]));
  expect(echoed).toEqual(asked);
});

test('a listener cannot see or touch another organization', async () => {
  const seen: unknown[] = [];
  const { state: reading } = await deliver(async ({ unit }) => {
    seen.push(await unit.data.findOne(organizationSetting, { organizationId: { eq: foreign.organization.id } }));
    seen.push((await unit.data.find(organizationSetting, { limit: 100 })).map((row) => row.organizationId));
  });
  expect(reading).toBe('done');
  expect(seen).toEqual([undefined, [home.organization.id]]);

  const { state: writing } = await deliver(async ({ unit }) => {
    await unit.data.create(membership, {
      organizationId: foreign.organization.id,
      userId: home.user.id,
      role: 'owner',
    });
  });
  expect(writing).toBe('failing');
  expect(
    await asOwner(world, 'select 1 from memberships where user_id = $1 and organization_id = $2', [
      home.user.id,
      foreign.organization.id,
    ]),
  ).toEqual([]);
});

import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { integrationExpiryBackfill } from '#activities/backfills/integration-expiry.backfill.ts';
import { integration, secret, user } from '#entities/index.ts';
import { systemCaller } from '#entities/kit/model/caller.ts';
import type { SweepReport } from '#workflows/kit/sweep-contract.ts';
import { asOwner } from '../../kit/as-owner.ts';
import { asSystem, transactAs } from '../../kit/as-person.ts';
import { eventually } from '../../kit/eventually.ts';
import { ChatGround } from '../../kit/integrations/chat-ground.ts';
import { buildPerson, signedIn } from '../../kit/people.ts';
import { shows } from '../../kit/shows.ts';
import { runSchedule } from '../../kit/sweep.ts';

const [hourMs, dayMs] = [3_600_000, 86_400_000];
const job = 'CORE_INTEGRATIONS_INTEGRATIONLIFECYCLE_';

let ground: ChatGround;
beforeAll(async () => {
  ground = await ChatGround.open({ environment: { [`${job}DRYRUN`]: 'false' } });
});
afterAll(() => ground.close());
beforeEach(async () => {
  // Those of the tests before do not take part.
  await asOwner(
    ground.world,
    `update integrations set expires_at = null, created_at = now() + interval '10 years', next_probe_at = null, next_sync_at = null
       where deleted_at is null`,
  );
});

const sweep = () => ground.sweep();
const inMs = (ms: number) => new Date(ground.world.clock.now().getTime() + ms);

test('a dry run says which integration would get which action, and changes nothing', async () => {
  shows('integrations.integrationlifecycle.dryrun');
  const { world } = ground;
  const owner = await buildPerson(world);
  const waiting = await ground.pending(owner, inMs(-1));
  await world.reconfigure({ [`${job}DRYRUN`]: undefined });
  expect(await sweep()).toMatchObject({
    isDryRun: true,
    done: 0,
    planned: [{ id: waiting.id, organizationId: owner.organization.id, action: 'remove' }],
  });
  expect(world.logs).toContainEqual(
    expect.objectContaining({ sweep: 'sweepIntegrations', record_id: waiting.id, action: 'remove' }),
  );
  await world.reconfigure({ [`${job}DRYRUN`]: 'false' });
  expect((await ground.row(waiting))?.status).toBe('pending');
  expect(await sweep()).toMatchObject({ isDryRun: false, done: 1 });
  await ground.isGone(waiting);
  expect(await ground.keptOf(waiting)).toBe(0);
});

test('an action decides again: nothing is done about one whose time was moved after the sweep had found it', async () => {
  const { world } = ground;
  const waiting = await ground.pending(await buildPerson(world), inMs(-1));
  expect(await runSchedule<SweepReport>(world, 'sweep-integrations')).toMatchObject({ done: 1 });
  const until = inMs(hourMs);
  await asSystem(world, waiting.owner.organization.id, (data) =>
    data.update(integration, waiting.id, { expiresAt: until }),
  );
  await ground.sendWakes();
  const action = world.runtime.temporal.client.workflow.getHandle(`${world.name}/integration-act/${waiting.id}`);
  expect(await eventually(() => action.result().catch(() => undefined))).toBe('nothing');
  expect(await ground.row(waiting)).toMatchObject({ status: 'pending', expiresAt: until });
  expect(await ground.keptOf(waiting)).toBe(1);
});

test('a run looks at so many, the oldest first, and the next one at the others', async () => {
  shows('integrations.integrationlifecycle.maxperrun');
  const { world } = ground;
  const owner = await buildPerson(world);
  const young = await ground.pending(owner, inMs(-2 * hourMs));
  const old = await ground.pending(owner, inMs(-3 * hourMs));
  const unexpired = await ground.pending(owner, inMs(hourMs));
  await world.reconfigure({ [`${job}MAXPERRUN`]: '1' });
  expect(await sweep()).toMatchObject({ examined: 1, done: 1, hasMore: true });
  await ground.isGone(old);
  expect((await ground.row(young))?.status).toBe('pending');
  await world.reconfigure({ [`${job}MAXPERRUN`]: undefined });
  expect(await sweep()).toMatchObject({ examined: 1, done: 1, hasMore: false });
  await ground.isGone(young);
  expect((await ground.row(unexpired))?.status).toBe('pending');
});

test('the sweep does not run while it is turned off', async () => {
  shows('integrations.integrationlifecycle.enabled');
  const { world } = ground;
  const handle = world.runtime.temporal.client.schedule.getHandle(`${world.name}/sweep-integrations`);
  const isPaused = async () => (await handle.describe()).state.paused;
  expect(await isPaused()).toBe(false);
  await world.reconfigure({ [`${job}ENABLED`]: 'false' });
  await eventually(isPaused);
  await world.reconfigure({ [`${job}ENABLED`]: undefined });
  await eventually(async () => !(await isPaused()));
});

test('one that nobody has connected and that has no time gets one, by the backfill or by the sweep', async () => {
  const { world } = ground;
  const owner = await buildPerson(world);
  const [first, second] = [await ground.pending(owner, null), await ground.pending(owner, null)];
  const apply = (ids: readonly string[]) =>
    transactAs(world.runtime, systemCaller('test'), (unit) => integrationExpiryBackfill.apply(unit, ids));
  expect(await apply([first.id])).toBe(1);
  expect(await apply([first.id])).toBe(0);
  expect((await ground.row(first))?.expiresAt).toEqual(inMs(7 * dayMs));
  await asOwner(world, 'update integrations set created_at = $2 where id = $1', [second.id, inMs(0)]);
  world.clock.advance(7 * dayMs);
  await sweep();
  const given = await eventually(async () => (await ground.row(second))?.expiresAt);
  expect(given.getTime()).toBeGreaterThan(inMs(6 * dayMs).getTime());
  await ground.isGone(first);
});

test('one that does not work is looked at ever more rarely, and is connected again with its loop when it works', async () => {
  const { world } = ground;
  const chat = await ground.connect();
  await ground.loopIs(chat, 'RUNNING');
  ground.refuse(chat);
  expect((await ground.use(chat)).body).toMatchObject({ code: 'integration_refused' });
  await ground.hasStatus(chat, 'errored');
  await ground.loopIs(chat, 'COMPLETED');
  const pauses: number[] = [];
  for (let looks = 1; looks <= 3; looks++) {
    const before = await ground.row(chat);
    world.clock.advance((before?.nextProbeAt?.getTime() ?? 0) - world.clock.now().getTime());
    await sweep();
    const after = await eventually(async () => {
      const row = await ground.row(chat);
      return row?.probes === looks && row;
    });
    pauses.push((after.nextProbeAt?.getTime() ?? 0) - world.clock.now().getTime());
    expect(after).toMatchObject({ status: 'errored', errorCode: 'unauthorized' });
  }
  expect(pauses).toEqual([0.5 * hourMs, hourMs, 2 * hourMs]);
  ground.accept(chat);
  world.clock.advance(2 * hourMs);
  await sweep();
  expect(await ground.hasStatus(chat, 'connected')).toMatchObject({ errorCode: null, errorMessage: null, probes: 0 });
  await ground.loopIs(chat, 'RUNNING');
  await eventually(async () => (await ground.notifiedOf(chat.owner, 'errored')) === 1);
});

test('one that the operator does not offer any more is looked at later, and holds up no others', async () => {
  const { world } = ground;
  const chat = await ground.connect();
  ground.refuse(chat);
  await ground.use(chat);
  const { nextProbeAt } = await ground.hasStatus(chat, 'errored');
  world.clock.advance(hourMs);
  await world.reconfigure({ CORE_INTEGRATIONS_CHAT_CLIENTID: undefined });
  await sweep();
  await eventually(async () => ((await ground.row(chat))?.nextProbeAt ?? 0) > (nextProbeAt ?? 0));
  await world.reconfigure({ CORE_INTEGRATIONS_CHAT_CLIENTID: ground.fake.client.id });
});

test('a loop that was lost begins again', async () => {
  const { world } = ground;
  const chat = await ground.connect();
  await ground.loopIs(chat, 'RUNNING');
  await eventually(async () => (await ground.row(chat))?.lastSyncAt);
  const { client } = world.runtime.temporal;
  await client.workflow.getHandle(`${world.name}/integration-loop/${chat.id}/directorySync`).terminate('lost');
  world.clock.advance(30 * hourMs);
  const late = (await ground.row(chat))?.nextSyncAt?.getTime();
  await sweep();
  await eventually(async () => (await ground.row(chat))?.nextSyncAt?.getTime() !== late);
  await ground.sendWakes();
  await ground.loopIs(chat, 'RUNNING');
});

test('a disconnection whose workflow was lost is finished', async () => {
  const { world } = ground;
  const owner = await buildPerson(world);
  const chat = await ground.pending(owner, null);
  await asOwner(world, `update integrations set status = 'disconnecting', next_probe_at = $2 where id = $1`, [
    chat.id,
    inMs(-1),
  ]);
  await sweep();
  await eventually(async () => ((await ground.row(chat))?.probes ?? 0) > 0);
  await ground.sendWakes();
  await ground.isGone(chat);
  expect(await ground.keptOf(chat)).toBe(0);
});

test('the person responsible is notified once of a credential that ends soon, and again after a new one', async () => {
  const { world } = ground;
  const chat = await ground.connect();
  const colleague = await buildPerson(world, { organization: chat.owner.organization });
  const endsIn = (days: number) =>
    asSystem(world, chat.owner.organization.id, async (data) => {
      const held = await data.findOne(secret, { integrationId: { eq: chat.id } });
      await data.update(secret, held?.id ?? '', { expiresAt: inMs(days * dayMs) });
    });
  const notices = () => ground.notifiedOf(chat.owner, 'expiring');
  await endsIn(15);
  await sweep();
  expect((await ground.row(chat))?.expiryAnnouncedAt).toBeNull();
  world.clock.advance(dayMs);
  await sweep();
  await eventually(async () => (await notices()) === 1);
  expect(await ground.notifiedOf(colleague, 'expiring')).toBe(0);
  await sweep();
  const body = { accessToken: ground.fake.tokenOf('T024BE7LD') };
  const again = { integration_id: chat.id, credential_ref: 'botToken', body };
  expect((await (await signedIn(world, chat.owner)).post('/v1/integrations/chat/config', again)).status).toBe(200);
  expect((await ground.row(chat))?.expiryAnnouncedAt).toBeNull();
  await endsIn(3);
  await sweep();
  await eventually(async () => (await notices()) === 2);
});

test('somebody else becomes responsible when the person leaves', async () => {
  const { world } = ground;
  const owner = await buildPerson(world);
  const admin = await buildPerson(world, { organization: owner.organization, role: 'admin' });
  const chat = await ground.connect(admin);
  const deleted = await ground.connect(await buildPerson(world, { organization: owner.organization, role: 'admin' }));
  expect((await ground.row(chat))?.responsibleId).toBe(admin.user.id);
  const client = await signedIn(world, owner);
  const held = await asOwner<{ id: string }>(world, 'select id from memberships where user_id = $1', [admin.user.id]);
  await client.mutate({ method: 'DELETE', url: `/v1/memberships/${held[0]?.id}` });
  await eventually(async () => (await ground.row(chat))?.responsibleId === owner.user.id);
  await transactAs(world.runtime, systemCaller('test'), async ({ data }) => {
    await data.remove(user, deleted.owner.user.id);
  });
  await eventually(async () => (await ground.row(deleted))?.responsibleId === owner.user.id);
  ground.refuse(chat);
  await ground.use({ ...chat, client });
  await ground.hasStatus(chat, 'errored');
  await eventually(async () => (await ground.notifiedOf(owner, 'errored')) === 1);
});

import { afterAll, beforeAll, expect, test } from 'vitest';
import { integration, integrationRun } from '#entities/index.ts';
import { webhookEvent } from '#entities/integrations/webhook-event.ts';
import { firstIdAt, newId, timeOfId } from '#entities/kit/base/ids.ts';
import { systemCaller } from '#entities/kit/model/caller.ts';
import { recordRepair } from '#entities/kit/outbox/delivery-repairs.ts';
import { customEvent } from '#entities/kit/write/custom-events.ts';
import { asSystem } from '../../kit/as-person.ts';
import { asOwner } from '../../kit/as-owner.ts';
import { eventually } from '../../kit/eventually.ts';
import { waitForMails } from '../../kit/mailbox.ts';
import { buildPerson, signedIn } from '../../kit/people.ts';
import { runSchedule } from '../../kit/sweep.ts';
import { openWorld, type World } from '../../kit/world.ts';

const day = 86_400_000;
let world: World;
beforeAll(async () => {
  world = await openWorld({ worker: true });
  // Other tests of this process may have moved the clock: ids never go back, and tell how old a record is.
  world.clock.advance(Math.max(0, timeOfId(newId()).getTime() - world.clock.now().getTime()));
});
afterAll(() => world.close());

const prune = () => runSchedule(world, 'prune-records');
const inDatabase = <T>(work: Parameters<typeof world.runtime.database.transact<T>>[1]) =>
  world.runtime.database.transact({ caller: systemCaller('test'), requestId: newId() }, work);

async function idsOf(table: string): Promise<string[]> {
  const rows = await asOwner<{ id: string }>(world, `select id from ${table} order by id`);
  return rows.map(({ id }) => id);
}

/** Where something of a record is left. */
async function tracesOf(id: string): Promise<string[]> {
  const rows = await asOwner<{ place: string }>(
    world,
    `select distinct 'history' as place from history where entity_id = $1
     union select 'record_kinds' from record_kinds where id = $1 order by 1`,
    [id],
  );
  return rows.map(({ place }) => place);
}

/** E-mails of an organization, each in a state of its own. */
async function invitedIn(states: readonly string[]): Promise<Map<string, string>> {
  const client = await signedIn(world, await buildPerson(world));
  const ids = new Map<string, string>();
  for (const state of states) {
    const recipient = `${newId().toLowerCase()}@example.com`;
    const { body } = await client.post('/v1/invites', { recipient });
    await waitForMails(world, recipient);
    const [sent] = await eventually(async () => {
      const rows = await asOwner<{ id: string }>(
        world,
        `select id from emails where about_id = $1 and status = 'sent'`,
        [body.id],
      );
      return rows.length > 0 && rows;
    });
    await asOwner(world, 'update emails set status = $2, resent_at = $3 where id = $1', [
      sent?.id,
      state === 'failed and sent again' ? 'failed' : state,
      state === 'failed and sent again' ? new Date() : null,
    ]);
    ids.set(state, sent?.id ?? '');
  }
  return ids;
}

test('what only grew is removed with its history after the stated time, what can still be repaired after a longer one', async () => {
  const email = `${newId().toLowerCase()}@example.com`;
  await world.client().post('/v1/register', { email, password: 'correct horse battery' });
  await waitForMails(world, email);
  const [account = ''] = await eventually(async () => {
    const ids = await idsOf('account_emails');
    return ids.length > 0 && ids;
  });
  await eventually(
    async () => (await asOwner(world, `select 1 from account_emails where status = 'sent'`)).length === 1,
  );
  const mails = await invitedIn(['delivered', 'suppressed', 'failed and sent again', 'failed', 'refused', 'waiting']);
  const received = await inDatabase(({ data }) =>
    data.createOnce(
      webhookEvent,
      { provider: 'providera', externalId: newId(), type: 'email.sent', occurredAt: new Date() },
      (stored) =>
        customEvent(webhookEvent, 'received', stored, {
          provider: 'providera',
          type: 'email.sent',
          occurredAt: new Date().toISOString(),
          values: {},
        }),
    ),
  );
  const repairId = newId();
  await inDatabase((unit) =>
    recordRepair(unit, { repairId, operation: 'retry', selection: { states: [] }, operator: 'o', reason: 'r' }),
  );
  expect(await tracesOf(account)).toEqual(['history', 'record_kinds']);
  expect(received).toBeDefined();

  world.clock.advance(89 * day);
  await prune();
  expect(await idsOf('webhook_events')).toHaveLength(1);
  world.clock.advance(2 * day);
  await prune();
  expect(await idsOf('webhook_events')).toEqual([]);
  expect(await idsOf('emails')).toEqual([...mails.values()].toSorted());
  expect(await idsOf('account_emails')).toEqual([account]);

  world.clock.advance(90 * day);
  await prune();
  const kept = ['failed', 'refused', 'waiting'].map((state) => mails.get(state) ?? '');
  expect(await idsOf('emails')).toEqual(kept.toSorted());
  expect(await idsOf('account_emails')).toEqual([]);
  for (const id of [account, mails.get('delivered') ?? '']) expect(await tracesOf(id)).toEqual([]);
  expect(await tracesOf(mails.get('failed') ?? '')).toEqual(['history', 'record_kinds']);

  world.clock.advance(185 * day);
  await prune();
  expect(await idsOf('emails')).toEqual([]);
  expect(await asOwner(world, 'select 1 from event_repairs')).toHaveLength(1);
  await asOwner(world, `update event_repairs set at = at - interval '10 years'`);
  await prune();
  expect(await asOwner(world, 'select 1 from event_repairs')).toEqual([]);
});

test('more than one batch is removed at once', async () => {
  const old = new Date(world.clock.now().getTime() - 400 * day);
  await asOwner(
    world,
    `insert into account_emails (id, created_at, updated_at, created_by, updated_by, record_version, key, template, status, attempts, topics)
     select $1 || lpad(n::text, 6, '0'), $2, $2, 'system:test', 'system:test', 1, 'old/' || n, 'welcome', 'sent', 1, '{}'
     from generate_series(1, 2500) n`,
    [firstIdAt(old).slice(0, 20), old],
  );
  await prune();
  expect(await idsOf('account_emails')).toEqual([]);
});

test('what a run has seen is kept while it is there, and not longer', async () => {
  const { organization } = await buildPerson(world);
  const run = await asSystem(world, organization.id, async (data) => {
    const held = await data.create(integration, { organizationId: organization.id, name: 'Directory' });
    // A loop makes it, so that no workflow begins here.
    const values = { operationName: 'directorySync', trigger: 'schedule', status: 'running' } as const;
    return data.create(integrationRun, { organizationId: organization.id, integrationId: held.id, ...values });
  });
  await asOwner(
    world,
    `insert into integration_sightings (run_id, kind, key) select run, 'directoryAccount', n::text
     from unnest($1::text[]) as run, generate_series(1, 10001) as n`,
    [[run.id, newId()]],
  );
  await prune();
  expect(await asOwner(world, 'select run_id, count(*)::int from integration_sightings group by run_id')).toEqual([
    { run_id: run.id, count: 10_001 },
  ]);
});

test('an account is forgotten an hour after it was free for requests again', async () => {
  await asOwner(
    world,
    `insert into integration_account_rates (account, free_at) values ('chat/A', clock_timestamp() - interval '61 minutes'),
       ('chat/B', clock_timestamp() - interval '59 minutes'), ('chat/C', clock_timestamp() + interval '1 day')`,
  );
  await prune();
  expect(await asOwner(world, 'select account from integration_account_rates order by account')).toEqual([
    { account: 'chat/B' },
    { account: 'chat/C' },
  ]);
});

test('records of other kinds cannot be removed this way', async () => {
  const { user } = await buildPerson(world);
  await expect(
    inDatabase(async (unit) => {
      const session = await unit.readAs('system');
      await session.query(`select prune_records('user', 'users', $1)`, [[user.id]]);
    }),
  ).rejects.toThrow();
});

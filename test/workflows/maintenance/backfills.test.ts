import { afterAll, beforeAll, expect, test } from 'vitest';
import { pino } from 'pino';
import { entityType, organizationSetting } from '#entities/index.ts';
import { AppError } from '#entities/kit/base/errors.ts';
import { keepBackfills } from '#worker/backfills.ts';
import { newId } from '#entities/kit/base/ids.ts';
import { systemCaller } from '#entities/kit/model/caller.ts';
import type { UnitOfWork } from '#entities/kit/unit/unit-of-work.ts';
import { runBackfillContract } from '#workflows/maintenance/run-backfill.contract.ts';
import { runBackfillRoutineContract } from '#workflows/maintenance/run-backfill-routine.contract.ts';
import { asOwner } from '../../kit/as-owner.ts';
import { eventually } from '../../kit/eventually.ts';
import { buildPerson, type Person } from '../../kit/people.ts';
import { shows } from '../../kit/shows.ts';
import { releaseBackfills } from '#activities/backfills/release-backfills.ts';
import { forgetBackfillRuns } from '../../kit/records/forgotten-backfills.ts';
import { openWorld, type World } from '../../kit/world.ts';

let world: World;
let older: Person;
let careful: Person;
beforeAll(async () => {
  world = await openWorld({ worker: true, environment: { CORE_ORMCONFIG_ENTITYTYPES: 'Vendor,Customer' } });
  older = await buildPerson(world);
  careful = await buildPerson(world);
});
afterAll(() => world.close());

function transact<T>(work: (unit: UnitOfWork) => Promise<T>): Promise<T> {
  return world.runtime.database.transact({ caller: systemCaller('test'), requestId: newId() }, work);
}

const runsOf = () =>
  asOwner<{ routine: string; status: string; changed: string }>(
    world,
    `select routine, status, changed_records as changed from backfill_runs where routine = any($1) order by routine`,
    [['billing-emails', 'billing-rows', 'entity-types', 'followed-memberships']],
  );

test('backfills run once they are enabled, and give older organizations what they lack', async () => {
  shows('backfill.enabled');
  const ids = [older.organization.id, careful.organization.id];
  // As if these were older than the fields.
  await asOwner(
    world,
    `with types as (delete from entity_types where organization_id = any($1) and name in ('Vendor', 'Customer') returning id),
       members as (delete from group_memberships where organization_id = any($1) returning id),
       tuples as (update desired_tuples set present = false, version = version + 1 where object in (select 'group_membership:' || id from members)),
       announced as (delete from events where entity_id in (select id from types union all select id from members))
     delete from history where entity_id in (select id from types union all select id from members)`,
    [ids],
  );
  await asOwner(world, 'update organization_settings set billing_email = null where organization_id = any($1)', [ids]);
  // One of them has decided otherwise.
  await transact(async ({ data }) => {
    const type = await data.create(entityType, { organizationId: careful.organization.id, name: 'VENDOR' });
    await data.remove(entityType, type.id);
    const renamed = await data.create(entityType, { organizationId: careful.organization.id, name: 'customer' });
    await data.update(entityType, renamed.id, { name: 'Client' });
    const settings = await data.findOne(organizationSetting, { organizationId: { eq: careful.organization.id } });
    await data.update(organizationSetting, settings?.id ?? '', { billingEmail: 'invoices@careful.example' });
    await data.update(organizationSetting, settings?.id ?? '', { billingEmail: null });
  });
  expect(await runsOf()).toEqual([]);

  await world.reconfigure({ CORE_BACKFILL_ENABLED: 'true' });
  await eventually(async () => (await runsOf()).filter(({ status }) => status === 'completed').length === 3);
  expect((await runsOf()).map(({ routine }) => routine)).toEqual([
    'billing-emails',
    'entity-types',
    'followed-memberships',
  ]);
  const typesOf = async (person: Person) =>
    (
      await asOwner<{ name: string }>(
        world,
        `select name from entity_types where organization_id = $1 and deleted_at is null and name in ('Vendor', 'Customer') order by name`,
        [person.organization.id],
      )
    ).map(({ name }) => name);
  expect(await typesOf(older)).toEqual(['Customer', 'Vendor']);
  expect(await typesOf(careful)).toEqual([]);
  const emails = await asOwner<{ email: string | null }>(
    world,
    `select s.billing_email as email from organization_settings s where organization_id = any($1) order by organization_id`,
    [ids],
  );
  expect(emails.map(({ email }) => email)).toEqual([older.user.email, null]);
  const groups = await asOwner<{ name: string }>(
    world,
    `select g.name from group_memberships m join groups g on g.id = m.group_id where m.organization_id = $1 and m.deleted_at is null order by g.name`,
    [older.organization.id],
  );
  expect(groups.map(({ name }) => name)).toEqual(['Admins', 'All Members']);
  const events = await asOwner<{ topic: string }>(
    world,
    `select topic from events where request_id like 'backfill-%' order by topic`,
  );
  // Each routine says that it is complete, whatever it has found.
  const wanted = releaseBackfills.filter(({ isWanted }) => isWanted(world.config.current));
  expect(events.map(({ topic }) => topic)).toEqual(wanted.map(() => 'backfill_run.completed'));
});

test('what is completed does not run again, also when Temporal has forgotten it', async () => {
  const before = await runsOf();
  const { temporal } = world.runtime;
  await asOwner(world, 'update organization_settings set billing_email = null where organization_id = $1', [
    older.organization.id,
  ]);
  expect(await temporal.start(runBackfillContract, {}, { search: {}, repeat: 'again' })).toBe(true);
  await temporal.client.workflow.getHandle(temporal.workflowId(runBackfillContract, {})).result();
  expect(await runsOf()).toEqual(before);
});

test('a run goes on as a new one, so that its history stays short', async () => {
  const { temporal } = world.runtime;
  const input = { routine: 'billing-emails', version: 1 };
  await forgetBackfillRuns(world, 'billing-emails');
  // Others hold a record for longer than a slice.
  const held = asOwner(
    world,
    'with held as (select id from organization_settings for update) select count(*), pg_sleep(2.5) from held',
  );
  const handle = await temporal.client.workflow.start(runBackfillRoutineContract.name, {
    taskQueue: temporal.taskQueue('workflows'),
    workflowId: temporal.workflowId(runBackfillRoutineContract, input),
    args: [{ ...temporal.inputOf(runBackfillRoutineContract, input), slicesPerRun: 1 }],
  });
  await held;
  expect(await handle.result()).toMatchObject({ status: 'completed', examined: 2 });
  const { runId } = await temporal.client.workflow.getHandle(handle.workflowId).describe();
  expect(runId).not.toBe(handle.firstExecutionRunId);
});

test('backfills that are turned on while Temporal is away are started when it is back', async () => {
  const { temporal } = world.runtime;
  let attempts = 0;
  const unsteady = Object.create(temporal, {
    start: {
      value: (...given: Parameters<typeof temporal.start>) => {
        attempts += 1;
        if (attempts === 1) return Promise.reject(new AppError('workflows_unavailable', 'Temporal is away.'));
        return temporal.start(...given);
      },
    },
  }) as typeof temporal;
  await world.reconfigure({ CORE_BACKFILL_ENABLED: undefined });
  const end = await keepBackfills(world.config, { temporal: unsteady, logger: pino({ enabled: false }), retryMs: 10 });
  expect(attempts).toBe(0);
  await world.reconfigure({ CORE_BACKFILL_ENABLED: 'true' });
  await eventually(() => Promise.resolve(attempts === 2));
  end();
});

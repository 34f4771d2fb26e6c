import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { doPage, failuresOf, repeatFailures, type BackfillRun } from '#activities/backfills/backfill-page.ts';
import { runSlice } from '#activities/backfills/backfill-slice.ts';
import { defineBackfill, type Backfill } from '#activities/backfills/define-backfill.ts';
import { lockRecords } from '#activities/backfills/lock-records.ts';
import { entityType, organizationSetting } from '#entities/index.ts';
import { AppError } from '#entities/kit/base/errors.ts';
import { newId } from '#entities/kit/base/ids.ts';
import { systemCaller } from '#entities/kit/model/caller.ts';
import type { UnitOfWork } from '#entities/kit/unit/unit-of-work.ts';
import { runBackfillContract } from '#workflows/maintenance/run-backfill.contract.ts';
import { asOwner } from '../../kit/as-owner.ts';
import { eventually } from '../../kit/eventually.ts';
import { buildPerson, type Person } from '../../kit/people.ts';
import { shows } from '../../kit/shows.ts';
import { openWorld, type World } from '../../kit/world.ts';

const count = 250;

let world: World;
let older: Person;
let careful: Person;
let named: readonly string[];
beforeAll(async () => {
  world = await openWorld({ worker: true, environment: { CORE_ORMCONFIG_ENTITYTYPES: 'Vendor,Customer' } });
  older = await buildPerson(world);
  careful = await buildPerson(world);
  named = await transact(async ({ data }) => {
    const inputs = Array.from({ length: count }, (_, index) => ({
      module: entityType,
      input: { organizationId: older.organization.id, name: `type ${index}` },
      path: '',
    }));
    return (await data.createAll(inputs)).map(({ id }) => id as string).toSorted();
  });
});
afterAll(() => world.close());

function transact<T>(work: (unit: UnitOfWork) => Promise<T>): Promise<T> {
  return world.runtime.database.transact({ caller: systemCaller('test'), requestId: newId() }, work);
}

interface Renaming {
  readonly version?: number;
  /** Called with the ids of a page before they are changed. */
  readonly before?: (ids: readonly string[]) => void;
}

/** Appends a mark to the names of the entity types, once. */
function marking(name: string, { version = 1, before }: Renaming = {}): Backfill {
  const mark = ` (${name} ${version})`;
  return defineBackfill({
    name,
    version,
    description: 'Marks names.',
    isWanted: () => true,
    find: (_unit, { after, limit }) => Promise.resolve(named.filter((id) => id > after).slice(0, limit)),
    apply: async (unit, ids) => {
      before?.(ids);
      await lockRecords(unit, entityType, ids);
      const rows = await unit.data.find(entityType, { where: { id: { in: [...ids] } }, limit: ids.length });
      const lacking = rows.filter((row) => !row.name.endsWith(mark));
      for (const row of lacking)
        await unit.data.update(entityType, row.id, { name: `${row.name.split(' (')[0]}${mark}` });
      return lacking.length;
    },
  });
}

async function untilDone(backfill: Backfill): Promise<BackfillRun> {
  let run = await doPage(world.runtime.database, backfill, 100);
  while (run.status === 'running') run = await doPage(world.runtime.database, backfill, 100);
  return run;
}

const changesOf = (request: string) =>
  asOwner<{ changes: number; records: number }>(
    world,
    `select count(*)::int as changes, count(distinct entity_id)::int as records from history
     where request_id = $1 and entity_kind = 'entity_type'`,
    [request],
  );

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
  expect(await typesOf(careful)).toEqual(['Customer']);
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
  expect(events.map(({ topic }) => topic)).toEqual(Array.from({ length: 3 }, () => 'backfill_run.completed'));
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

describe('a run', () => {
  test('changes each record once, whatever the number of workers', async () => {
    const backfill = marking('ten-workers');
    const runs = await Promise.all(Array.from({ length: 10 }, () => eventually(() => untilDone(backfill))));
    for (const run of runs)
      expect(run).toMatchObject({ status: 'completed', examinedRecords: count, changedRecords: count });
    expect(await changesOf('backfill-ten-workers-1')).toEqual([{ changes: count, records: count }]);
  });

  test('continues behind its last page after a crash', async () => {
    let pages = 0;
    const before = () => {
      if (++pages === 2) throw new AppError('database_unavailable', 'The database is away.');
    };
    const backfill = marking('crashing', { before });
    await expect(untilDone(backfill)).rejects.toThrow('away');
    expect(await untilDone(backfill)).toMatchObject({ examinedRecords: count, changedRecords: count });
    expect(await changesOf('backfill-crashing-1')).toEqual([{ changes: count, records: count }]);
  });

  test('keeps records that fail, and repeats them alone', async () => {
    const broken = new Set([named[3], named[120]]);
    let isMended = false;
    const before = (ids: readonly string[]) => {
      if (!isMended && ids.some((id) => broken.has(id))) throw new TypeError('a bug');
    };
    const backfill = marking('failing', { before });
    const run = await untilDone(backfill);
    expect(run).toMatchObject({ status: 'completed', examinedRecords: count, changedRecords: count - 2 });
    expect(failuresOf(run)).toEqual([...broken].map((id) => ({ id, reason: 'a bug' })));
    expect(failuresOf(await repeatFailures(world.runtime.database, backfill))).toHaveLength(2);
    isMended = true;
    const repeated = await repeatFailures(world.runtime.database, backfill);
    expect(repeated).toMatchObject({ failures: [], changedRecords: count });
    expect(await changesOf('backfill-failing-1')).toEqual([{ changes: count, records: count }]);
  });

  test('of a higher version looks at all records again', async () => {
    await untilDone(marking('versions'));
    expect(await untilDone(marking('versions', { version: 2 }))).toMatchObject({ changedRecords: count });
  });

  test('stops after its page when backfills are turned off, and continues later', async () => {
    let isOn = true;
    const before = () => {
      isOn = false;
    };
    const backfill = { ...marking('switched', { before }), isWanted: () => isOn };
    const deps = { config: world.config, database: world.runtime.database };
    expect(await runSlice(deps, backfill)).toMatchObject({ status: 'stopped', examined: 100 });
    isOn = true;
    expect(await untilDone(backfill)).toMatchObject({ status: 'completed', changedRecords: count });
  });
});

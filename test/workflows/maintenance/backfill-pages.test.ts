import { afterAll, beforeAll, expect, test } from 'vitest';
import { createBackfillActivities } from '#activities/backfills/backfill-activities.ts';
import { doPage, failuresOf, repeatFailures, type BackfillRun } from '#activities/backfills/backfill-page.ts';
import { BackfillPace, runSlice } from '#activities/backfills/backfill-slice.ts';
import { billingEmailsBackfill } from '#activities/backfills/billing-emails.backfill.ts';
import { defineBackfill, type Backfill } from '#activities/backfills/define-backfill.ts';
import { lockRecords } from '#activities/backfills/lock-records.ts';
import { backfillRun, entityType, organizationSetting } from '#entities/index.ts';
import { AppError } from '#entities/kit/base/errors.ts';
import { newId } from '#entities/kit/base/ids.ts';
import { systemCaller } from '#entities/kit/model/caller.ts';
import type { UnitOfWork } from '#entities/kit/unit/unit-of-work.ts';
import { runBackfillsCommand, type BackfillsCommand } from '#tools/commands/backfill-commands.ts';
import { asOwner } from '../../kit/as-owner.ts';
import { eventually } from '../../kit/eventually.ts';
import { buildPerson, type Person } from '../../kit/people.ts';
import { forgetBackfillRuns } from '../../kit/records/forgotten-backfills.ts';
import { openWorld, type World } from '../../kit/world.ts';

const count = 250;
const maxConnections = 5;

let world: World;
let person: Person;
let named: readonly string[];
beforeAll(async () => {
  world = await openWorld({
    environment: { CORE_BACKFILL_ENABLED: 'true', CORE_DB_MAXCONNECTIONS: String(maxConnections) },
  });
  person = await buildPerson(world);
  named = await transact(async ({ data }) => {
    const inputs = Array.from({ length: count }, (_, index) => ({
      module: entityType,
      input: { organizationId: person.organization.id, name: `type ${index}` },
      path: '',
    }));
    return (await data.createAll(inputs)).map(({ id }) => id as string).toSorted();
  });
});
afterAll(() => world.close());

function transact<T>(work: (unit: UnitOfWork) => Promise<T>): Promise<T> {
  return world.runtime.database.transact({ caller: systemCaller('test'), requestId: newId() }, work);
}

async function operate(command: BackfillsCommand) {
  const lines: string[] = [];
  const isDone = await runBackfillsCommand(command, { runtime: world.runtime, print: (line) => lines.push(line) });
  return { isDone, said: lines.join('\n') };
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

/** So that pages and people meet more often. */
const smallPages: Backfill['find'] = (unit, { after }) => billingEmailsBackfill.find(unit, { after, limit: 5 });

const changesOf = (request: string) =>
  asOwner<{ changes: number; records: number }>(
    world,
    `select count(*)::int as changes, count(distinct entity_id)::int as records from history
     where request_id = $1 and entity_kind = 'entity_type'`,
    [request],
  );

test('a run changes each record once, whatever the number of workers', async () => {
  const backfill = marking('ten-workers');
  const runs = await Promise.all(Array.from({ length: 10 }, () => eventually(() => untilDone(backfill))));
  for (const run of runs)
    expect(run).toMatchObject({ status: 'completed', examinedRecords: count, changedRecords: count });
  expect(await changesOf('backfill-ten-workers-1')).toEqual([{ changes: count, records: count }]);
});

test('a run continues behind its last page after a crash', async () => {
  let pages = 0;
  const before = () => {
    if (++pages === 2) throw new AppError('database_unavailable', 'The database is away.');
  };
  const backfill = marking('crashing', { before });
  await expect(untilDone(backfill)).rejects.toThrow('away');
  expect(await untilDone(backfill)).toMatchObject({ examinedRecords: count, changedRecords: count });
  expect(await changesOf('backfill-crashing-1')).toEqual([{ changes: count, records: count }]);
});

test('a run keeps records that fail, and repeats them alone', async () => {
  const broken = new Set([named[3], named[120]]);
  let isMended = false;
  const before = (ids: readonly string[]) => {
    if (!isMended && ids.some((id) => broken.has(id))) throw new TypeError('a bug');
  };
  const backfill = marking('failing', { before });
  const run = await untilDone(backfill);
  expect(run).toMatchObject({ status: 'completed', examinedRecords: count, changedRecords: count - 2 });
  expect(failuresOf(run)).toEqual([...broken].map((id) => ({ id, reason: 'a bug' })));
  expect(await repeatFailures(world.runtime.database, backfill)).toMatchObject({ failures: run.failures });
  isMended = true;
  const repeated = await repeatFailures(world.runtime.database, backfill);
  expect(repeated).toMatchObject({ failures: [], changedRecords: count });
  expect(await changesOf('backfill-failing-1')).toEqual([{ changes: count, records: count }]);
});

test('a record that another worker has done meanwhile is not kept as failed, nor is the next one', async () => {
  const { database } = world.runtime;
  let other: Promise<BackfillRun> | undefined;
  const backfill = marking('overtaken');
  await doPage(database, backfill, 1);
  const failing: Backfill = {
    ...backfill,
    apply: async () => {
      other = doPage(database, backfill, 1);
      await eventually(async () => {
        const waiting = await asOwner(
          world,
          `select 1 from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`,
        );
        return waiting.length === 1;
      });
      throw new TypeError('a bug of one worker');
    },
  };
  const run = await doPage(database, failing, 1);
  expect(await other).toMatchObject({ position: named[1] });
  expect(run).toMatchObject({ position: named[1], examinedRecords: 2, failures: null });
});

test('a page that takes too long is done record by record, and the run ends', async () => {
  const before = (ids: readonly string[]) => {
    if (ids.length > 1) throw new AppError('deadline_exceeded', 'The time of the request is over.');
  };
  expect(await untilDone(marking('slow', { before }))).toMatchObject({
    status: 'completed',
    changedRecords: count,
    failures: null,
  });
  const busy = marking('busy', {
    before: () => {
      throw new AppError('deadline_exceeded', 'The time of the request is over.');
    },
  });
  await expect(untilDone(busy)).rejects.toThrow('The time of the request is over.');
});

test('operators list records that failed, and repeat them', async () => {
  const settings = await transact(({ data }) =>
    data.findOne(organizationSetting, { organizationId: { eq: person.organization.id } }),
  );
  await asOwner(world, 'update organization_settings set billing_email = null where id = $1', [settings?.id]);
  expect(await operate({ name: 'retry', backfill: billingEmailsBackfill })).toEqual({
    isDone: true,
    said: 'billing-emails\n  has not run yet',
  });
  await untilDone({ ...billingEmailsBackfill, apply: () => Promise.reject(new TypeError('a bug')) });
  const failed = `${settings?.id} failed: a bug`;
  const listed = await operate({ name: 'list' });
  expect(listed).toMatchObject({ isDone: false, said: expect.stringContaining(failed) });
  expect(listed.said).toMatch(/^billing-rows: .* Not wanted by the configuration\.$/mu);
  expect(await operate({ name: 'retry', backfill: billingEmailsBackfill })).toEqual({
    isDone: true,
    said: 'billing-emails\n  version 1: completed, 1 examined, 1 changed',
  });
  expect(await operate({ name: 'list' })).toMatchObject({ isDone: true });
});

test('a higher version looks at all records again', async () => {
  await untilDone(marking('versions'));
  expect(await untilDone(marking('versions', { version: 2 }))).toMatchObject({ changedRecords: count });
});

test('a run stops after its page when backfills are turned off, and continues later', async () => {
  let isOn = true;
  const before = () => {
    isOn = false;
  };
  const backfill = { ...marking('switched', { before }), isWanted: () => isOn };
  const dependencies = { config: world.config, database: world.runtime.database, pace: new BackfillPace() };
  expect(await runSlice(dependencies, backfill)).toMatchObject({ status: 'stopped', examined: 100 });
  isOn = true;
  expect(await untilDone(backfill)).toMatchObject({ status: 'completed', changedRecords: count });
});

test('the previous release leaves a higher version to others, and does not run what that has completed', async () => {
  const activities = createBackfillActivities({
    config: world.config,
    database: world.runtime.database,
  });
  const ownVersion = { routine: 'followed-memberships', version: 1 };
  const nextVersion = { ...ownVersion, version: 2 };
  expect(await activities.wantedBackfills()).toContainEqual(ownVersion);
  await expect(activities.backfillSlice(nextVersion)).rejects.toThrow(
    'no version 2 of the backfill followed-memberships',
  );
  await transact(({ data }) => data.create(backfillRun, { ...nextVersion, status: 'completed' }));
  expect(await activities.wantedBackfills()).not.toContainEqual(ownVersion);
  // Nothing of the lower version is left to do.
  expect(await activities.backfillSlice({ ...ownVersion, version: 0 })).toMatchObject({
    status: 'stopped',
    examined: 0,
  });
});

test('a person who changes a record at the same time has the last word', async () => {
  const people = await Promise.all(Array.from({ length: 50 }, () => buildPerson(world)));
  const ids = people.map(({ organization }) => organization.id);
  await asOwner(world, 'update organization_settings set billing_email = null where organization_id = any($1)', [ids]);
  await forgetBackfillRuns(world, 'billing-emails');
  const change = async (organizationId: string) => {
    const settings = await transact(({ data }) =>
      data.findOne(organizationSetting, { organizationId: { eq: organizationId } }),
    );
    await eventually(() =>
      transact(({ data }) =>
        data.update(organizationSetting, settings?.id ?? '', { billingEmail: 'people@example.com' }),
      ),
    );
  };
  const [run] = await Promise.all([
    eventually(() => untilDone({ ...billingEmailsBackfill, find: smallPages })),
    ...ids.map(change),
  ]);
  expect(run).toMatchObject({ status: 'completed', failures: null });
  const emails = await asOwner(
    world,
    'select distinct billing_email from organization_settings where organization_id = any($1)',
    [ids],
  );
  expect(emails).toEqual([{ billing_email: 'people@example.com' }]);
});

test('a slice rests as long as it works, and longer while others wait for the database', async () => {
  const pace = new BackfillPace();
  expect(pace.restAfter(20, 1)).toBe(20);
  expect(pace.restAfter(20, 5)).toBe(20);
  expect(pace.restAfter(20, 50)).toBe(200);
  expect(pace.restAfter(20, 5_000)).toBe(5_000);

  const { database } = world.runtime;
  const measured: { readonly pageMs: number; readonly restMs: number }[] = [];
  class NotedPace extends BackfillPace {
    override restAfter(pageMs: number, answerMs: number): number {
      const restMs = super.restAfter(pageMs, answerMs);
      measured.push({ pageMs, restMs });
      return restMs;
    }
  }
  const dependencies = { config: world.config, database, pace: new NotedPace() };
  await runSlice(dependencies, marking('calm'));
  const calm = measured.splice(0);
  expect(calm.length).toBeGreaterThan(0);
  for (const { pageMs, restMs } of calm) expect(restMs).toBeGreaterThanOrEqual(Math.min(pageMs, 5_000));
  const end = new AbortController();
  // More than there are connections.
  const crowd = Array.from({ length: 4 * maxConnections }, async () => {
    while (!end.signal.aborted) await transact((unit) => unit.rowsAsSystem('select pg_sleep(0.05)'));
  });
  await runSlice(dependencies, marking('crowded'));
  end.abort();
  await Promise.all(crowd);
  expect(measured.some(({ pageMs, restMs }) => restMs > 2 * pageMs || restMs === 5_000)).toBe(true);
});

import { pino } from 'pino';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { sweepsOf } from '#activities/sweeps/release-sweeps.ts';
import { sweepPage } from '#activities/sweeps/sweep-page.ts';
import { defineSweep, type Sweep, type SweepSettings } from '#activities/sweeps/define-sweep.ts';
import { task } from '#entities/index.ts';
import { firstIdAt, newId } from '#entities/kit/base/ids.ts';
import { systemCaller } from '#entities/kit/model/caller.ts';
import type { UnitOfWork } from '#entities/kit/unit/unit-of-work.ts';
import { runSweepCommand, sweepTool, type SweepCommand } from '#tools/commands/sweep-commands.ts';
import { ArgumentError, readCommand } from '#tools/commands/tool.ts';
import type { SweepPage, SweepReport } from '#workflows/kit/sweep-contract.ts';
import { asOwner } from '../../kit/as-owner.ts';
import { startExport } from '../../kit/events/started-transfers.ts';
import { eventually } from '../../kit/eventually.ts';
import { buildPerson, signedIn, type Person } from '../../kit/people.ts';
import { shows } from '../../kit/shows.ts';
import { openWorld, type World } from '../../kit/world.ts';

let world: World;
let owner: Person;
/** What is decided about: tasks whose titles begin with this. */
let prefix: string;
beforeAll(async () => {
  world = await openWorld({ worker: true });
  owner = await buildPerson(world);
});
beforeEach(() => {
  prefix = newId();
});
afterAll(() => world.close());

const firstId = firstIdAt(new Date(0));

interface Options {
  readonly settings?: SweepSettings;
  readonly seen?: (now: Date) => void;
}

/** Closes tasks, leaves those that are to be kept, and fails on those that are broken. */
const closing = ({ settings = {}, seen }: Options = {}): Sweep =>
  defineSweep({
    name: 'closeTasks',
    description: 'Closes tasks.',
    queue: 'maintenance',
    every: 60_000,
    settings: () => settings,
    find: ({ data }, { limit, after: [after = firstId] = [], only, now }) => {
      seen?.(now);
      const id = only === undefined ? { gt: after } : { eq: only };
      return data.find(task, { where: { title: { startsWith: prefix }, status: { ne: 'completed' }, id }, limit });
    },
    lock: ({ data }, id) => data.findLocked(task, id),
    decide: ({ title }) =>
      title.endsWith('kept') ? { action: null, reason: 'to be kept' } : { action: 'close', reason: 'it is old' },
    act: async ({ data }, { id, title }) => {
      if (title.endsWith('broken')) throw new Error('it is broken');
      await data.update(task, id, { status: 'completed' });
    },
  });

const transact = <T>(work: (unit: UnitOfWork) => Promise<T>) =>
  world.runtime.database.transact({ caller: systemCaller('test', owner.organization.id), requestId: newId() }, work);

/** Tasks whose titles end in these. */
async function tasks(...endings: readonly string[]): Promise<string[]> {
  const rows = await transact(async ({ data }) => {
    const created = [];
    for (const ending of endings)
      created.push(await data.create(task, { organizationId: owner.organization.id, title: `${prefix} ${ending}` }));
    return created;
  });
  return rows.map(({ id }) => id);
}

const many = (count: number, ending = 'old') => Array.from({ length: count }, () => ending);

/** A whole run, page after page, as the workflow does it. */
async function run(
  sweep: Sweep,
  first: SweepPage = {},
  logger = pino({ enabled: false }),
): Promise<{ report: SweepReport; pages: number; told: number }> {
  let told = 0;
  const { config, runtime } = world;
  const onSwept = () => {
    told += 1;
  };
  const { database, temporal } = runtime;
  const deps = { config, database, temporal, logger, onSwept };
  let page = first;
  for (let pages = 1; ; pages++) {
    const { report, next } = await sweepPage(deps, sweep, page);
    if (!next) return { report, pages, told };
    page = { ...first, after: next, report };
  }
}

async function closed(): Promise<number> {
  const rows = await asOwner(world, `select 1 from tasks where title like $1 and status = 'completed'`, [`${prefix}%`]);
  return rows.length;
}

test('a run goes through all pages, and its report adds up', async () => {
  await tasks(...many(205), 'kept', 'kept', 'broken');
  const { report, pages, told } = await run(closing());
  expect([pages, told]).toEqual([3, 1]);
  expect(report).toEqual({
    isDryRun: false,
    examined: 208,
    done: 205,
    failed: 1,
    skipped: { 'to be kept': 2 },
    hasMore: false,
    planned: [],
  });
  expect(await closed()).toBe(205);
});

test('two runs at once do each thing once', async () => {
  const ids = await tasks(...many(40));
  const reports = await Promise.all(many(3).map(async () => (await run(closing())).report));
  expect(reports.reduce((sum, { done }) => sum + done, 0)).toBe(40);
  for (const { examined, done, failed, skipped } of reports)
    expect(done + failed + (skipped['changed meanwhile'] ?? 0)).toBe(examined);
  const updates = await asOwner(world, `select 1 from events where topic = 'task.updated' and entity_id = any($1)`, [
    ids,
  ]);
  expect(updates).toHaveLength(40);
});

test('a record that changes before it is locked is decided about again', async () => {
  const [id = ''] = await tasks('old');
  const sweep = closing();
  const late: Sweep = {
    ...sweep,
    lock: async (unit, locked) => {
      await transact(({ data }) => data.update(task, id, { title: `${prefix} kept` }));
      return sweep.lock(unit, locked);
    },
  };
  expect((await run(late)).report).toMatchObject({ examined: 1, done: 0, skipped: { 'to be kept': 1 } });
  expect(await closed()).toBe(0);
});

test('a dry run changes nothing and names what it would do, whether the operator or the configuration asks for it', async () => {
  const [one, , two] = await tasks('old', 'kept', 'old');
  const organizationId = owner.organization.id;
  const planned = [one, two].map((id) => ({ id, organizationId, action: 'close', reason: 'it is old' }));
  for (const report of [
    (await run(closing(), { isDryRun: true })).report,
    (await run(closing({ settings: { isDryRun: true } }))).report,
  ])
    expect(report).toMatchObject({
      isDryRun: true,
      examined: 3,
      done: 0,
      skipped: { 'dry run': 2, 'to be kept': 1 },
      planned,
    });
  expect(await closed()).toBe(0);
});

test('a dry run of many records names the first thousand in its report, and all in the log', async () => {
  const ids = await tasks(...many(1_010));
  const logged: unknown[] = [];
  const logger = pino({}, { write: (line: string) => void logged.push(JSON.parse(line)) });
  const { report } = await run(closing(), { isDryRun: true }, logger);
  expect(report.skipped).toEqual({ 'dry run': 1_010 });
  expect(report.planned.map(({ id }) => id)).toEqual(ids.slice(0, 1_000));
  const named = logged.flatMap((line) => {
    const { msg, record_id: id } = line as { readonly msg: string; readonly record_id?: string };
    return msg === 'a dry run would act on a record' ? [id] : [];
  });
  expect(named).toEqual(ids);
});

test('a page ends when half of its time is over, after one record at least', async () => {
  await tasks(...many(3));
  const { report, pages } = await run(closing(), { timeoutMs: 0 });
  expect(report).toMatchObject({ examined: 3, done: 3, hasMore: false });
  expect(pages).toBe(3);
});

test('limits end a run: of what it looks at, and of what it does', async () => {
  await tasks('kept', ...many(9));
  const { report } = await run(closing({ settings: { maxExamined: 4 } }));
  expect(report).toMatchObject({ examined: 4, done: 3, hasMore: true });
  expect((await run(closing({ settings: { maxDone: 2 } }))).report).toMatchObject({ done: 2, hasMore: true });
  expect((await run(closing({ settings: { maxDone: 200 } }))).report).toMatchObject({ done: 4, hasMore: false });
});

test('Test.Time is what sweeps take as now, and a dry run may take another instant', async () => {
  shows('jobqueue.queueconf.Test.Time');
  const seen: string[] = [];
  const sweep = closing({ seen: (now) => seen.push(now.toISOString()) });
  const time = '2031-01-01T00:00:00.000Z';
  await world.reconfigure({ CORE_JOBQUEUE_QUEUECONF_TEST_TIME: time });
  await run(sweep);
  await run(sweep, { isDryRun: true, at: '2032-01-01T00:00:00.000Z' });
  await world.reconfigure({ CORE_JOBQUEUE_QUEUECONF_TEST_TIME: undefined });
  expect(seen).toEqual([time, '2032-01-01T00:00:00.000Z']);
});

test('a file without a sweep is refused', () => {
  expect(() => sweepsOf([{ path: 'a.sweep.ts', exports: {} }])).toThrow('a.sweep.ts must export one sweep');
});

test('a run continues as new after some pages, and its report continues', async () => {
  const { temporal } = world.runtime;
  const due = { organizationId: owner.organization.id, assignerId: owner.user.id };
  const dueAt = new Date(world.clock.now().getTime() - 86_400_000);
  await transact(async ({ data }) => {
    for (const title of many(105)) await data.create(task, { ...due, dueAt, title });
  });
  const handle = await temporal.client.workflow.start('remindDueTasks', {
    taskQueue: temporal.taskQueue('workflows'),
    workflowId: `${world.name}/by-hand`,
    args: [{ queue: temporal.activityQueue('maintenance'), pagesPerRun: 1 }],
  });
  expect(await handle.result()).toMatchObject({ examined: 105, done: 105, failed: 0 });
  const first = temporal.client.workflow.getHandle(handle.workflowId, handle.firstExecutionRunId);
  expect((await first.describe()).status.name).toBe('CONTINUED_AS_NEW');
});

const command = (...args: readonly string[]): SweepCommand => readCommand(sweepTool, args);

test('npm run sweep says what a sweep would do at an instant, and does it', async () => {
  const client = await signedIn(world, owner);
  const { id } = await startExport(client, { record_kind: 'task' });
  await eventually(async () => (await client.get(`/v1/exports/${id}`)).body.status === 'completed');
  const lines: string[] = [];
  const typed = (...args: readonly string[]) =>
    runSweepCommand(command('expire-exports', ...args), { runtime: world.runtime, print: (line) => lines.push(line) });
  const at = new Date(world.clock.now().getTime() + 8 * 86_400_000).toISOString();
  expect(await typed('--dry-run', '--at', at)).toBe(true);
  expect(lines).toContain(`${id}  organization ${owner.organization.id}: expire (its time is over)`);
  expect(lines).toContain('1 examined, 0 done, 0 failed');
  expect((await client.get(`/v1/exports/${id}`)).body.status).toBe('completed');
  world.clock.advance(8 * 86_400_000);
  expect(await typed()).toBe(true);
  expect(lines.at(-1)).toBe('1 examined, 1 done, 0 failed');
});

test('npm run sweep takes a day as an instant', () => {
  expect(command('expire-exports', '--dry-run', '--at', '2027-01-31')).toMatchObject({
    at: '2027-01-31T00:00:00.000Z',
  });
});

test('arguments of npm run sweep that make no sense are refused', () => {
  for (const args of [
    ['expire-exports', '--at', '2026-01-01T00:00:00Z'],
    ...['soon', '0', '30d', '2027-02-30', '31.01.2027'].map((at) => ['expire-exports', '--dry-run', '--at', at]),
    ['unknown'],
  ])
    expect(() => command(...args)).toThrow(ArgumentError);
});

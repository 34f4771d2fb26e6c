import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { newId } from '#entities/kit/base/ids.ts';
import { runEventCommand, type EventCommand, type RepairCommand } from '#tools/commands/event-commands.ts';
import { asOwner } from '../../kit/as-owner.ts';
import { announce, isSettled } from '../../kit/events/event-fixtures.ts';
import { eventually } from '../../kit/eventually.ts';
import { failingRecord, fragileListener, untilWaiting } from '../../kit/events/failing-deliveries.ts';
import { startRepair } from '../../kit/processes/started-repair.ts';
import { waitForRuns } from '../../kit/runs.ts';
import { openWorld, type World } from '../../kit/world.ts';

const listener = fragileListener('mended', 'mended.changed');
const stubborn = fragileListener('stubborn', 'stubborn.changed');
let world: World;
beforeAll(async () => {
  world = await openWorld({
    worker: true,
    listeners: [listener, stubborn],
    environment: {
      CORE_WORKFLOWS_DISPATCH_MAXRETRIES: '1',
      CORE_JOBQUEUE_QUEUECONF_MAXATTEMPTS: '1',
      CORE_JOBQUEUE_QUEUECONF_TESTONLY: 'true',
    },
  });
});
afterAll(() => world.close());
// A listener that fails many times in a row is held as a whole (held-listener.test.ts).
beforeEach(() => asOwner(world, 'delete from listener_states'));

interface Outcome {
  readonly isDone: boolean;
  readonly text: string;
}

async function run(command: EventCommand, print: (line: string) => void = () => {}): Promise<Outcome> {
  const lines: string[] = [];
  const isDone = await runEventCommand(command, {
    runtime: world.runtime,
    print: (line) => {
      lines.push(line);
      print(line);
    },
    progressEveryMs: 50,
  });
  return { isDone, text: lines.join('\n') };
}

const asked = { operator: 'somebody@machine', reason: 'the cause is removed', perSecond: 100, isDryRun: false };
const repair = (name: 'retry' | 'skip', selection: Partial<RepairCommand['selection']>, more: object = {}) =>
  ({ name, selection: { states: ['failing'], ...selection }, ...asked, ...more }) as const;
const list = (selection: object) =>
  run({ name: 'list', selection: { states: ['failing', 'held', 'skipped'], ...selection }, limit: 50 });

async function eventsOf(entityId: string): Promise<string[]> {
  const rows = await asOwner<{ id: string }>(
    world,
    'select id from events where entity_id = $1 order by record_version',
    [entityId],
  );
  return rows.map(({ id }) => id);
}

const repairs = (eventId: string) =>
  asOwner<{ operation: string; operator: string; reason: string }>(
    world,
    `select a.operation, a.operator, a.reason from event_repairs a join repaired_deliveries r using (repair_id)
     where r.event_id = $1 order by a.at`,
    [eventId],
  );

/** Failing records of one request, each with its event. */
async function failingRecords(of: typeof listener, count: number) {
  const entityIds = Array.from({ length: count }, () => newId());
  for (const entityId of entityIds) of.broken.add(entityId);
  const requestId = await announce(
    world,
    entityIds.map((entityId) => ({ topic: of.topics[0] as string, entityId })),
  );
  const states = async () => {
    const rows = await asOwner<{ state: string; count: number }>(
      world,
      `select state, count(*)::int as count from event_deliveries where entity_id = any($1) group by state order by state`,
      [entityIds],
    );
    return Object.fromEntries(rows.map((row) => [row.state, row.count]));
  };
  await eventually(async () => (await states())['failing'] === count);
  const eventIds = (await Promise.all(entityIds.map(eventsOf))).flat();
  await Promise.all(eventIds.map((eventId) => untilWaiting(world, `${world.name}/event/${eventId}/${of.name}`)));
  return { entityIds, requestId, states, mend: () => entityIds.forEach((entityId) => of.broken.delete(entityId)) };
}

test('a failing delivery is listed and shown with payload and runs, retried, and what was held follows; who did it is kept', async () => {
  const record = await failingRecord(world, listener);
  await record.announceVersion(2);
  await eventually(async () => (await record.states()).length === 2);
  await record.isWaiting();
  const [first = '', second = ''] = await eventsOf(record.entityId);

  const { text } = await list({ listener: 'mended', error: 'ERR' });
  expect(text).toMatch(new RegExp(`${first} {2}failing {2}mended.changed ${record.entityId} {2}mended {2}.*Error`));
  expect((await list({ listener: 'mended' })).text).toContain(`${second}  held`);
  expect((await list({ topic: 'mended.*', error: 'another' })).text).toContain('There are no such deliveries.');

  const shown = await eventually(async () => {
    const found = await run({ name: 'show', eventId: first });
    return found.text.includes('deliverEvents') && found.text;
  });
  expect(shown).toContain(`record mended ${record.entityId}, version 1`);
  expect(shown).toContain('payload {');
  expect(shown).toMatch(/listener mended {2}failing since .* Error/);
  expect(shown).toContain(`run ${world.name}/event/${first}/mended  deliverEvent  RUNNING`);

  expect(await run(repair('retry', { eventIds: [second] }))).toMatchObject({
    isDone: false,
    text: expect.stringContaining('held follow'),
  });
  expect(await record.states()).toEqual(['failing', 'held']);
  record.mend();
  const retried = await run(repair('retry', { eventIds: [first] }));
  expect(retried).toMatchObject({
    isDone: true,
    text: expect.stringContaining('Tried again by their workflows: 1 of 1 selected'),
  });
  await eventually(async () => (await record.states()).join() === 'done,done');
  expect(await repairs(first)).toEqual([
    { operation: 'retry', operator: 'somebody@machine', reason: 'the cause is removed' },
  ]);
  expect((await run({ name: 'show', eventId: first })).text).toContain('by somebody@machine: the cause is removed');
});

test('a delivery is given up, and so is a held one before its turn', async () => {
  const record = await failingRecord(world, listener);
  for (const version of [2, 3]) await record.announceVersion(version);
  await eventually(async () => (await record.states()).length === 3);
  await record.isWaiting();
  const [first = '', second = ''] = await eventsOf(record.entityId);
  const states = ['failing', 'held'] as const;
  await run(repair('skip', { states, eventIds: [second] }));
  expect(await record.states()).toEqual(['failing', 'skipped', 'held']);
  record.mend();
  await run(repair('skip', { states, eventIds: [first] }));
  await eventually(async () => (await record.states()).join() === 'skipped,skipped,done');
  expect((await repairs(second)).map(({ operation }) => operation)).toEqual(['skip']);
});

test('a delivery whose workflow was terminated is skipped as well', async () => {
  const record = await failingRecord(world, listener);
  await record.isWaiting();
  await record.handle.terminate('by mistake');
  const [first = ''] = await eventsOf(record.entityId);
  await run(repair('skip', { eventIds: [first] }));
  await eventually(async () => (await record.states()).join() === 'skipped');
});

test('many are counted by a dry run, which changes nothing, then retried: those of the selection alone', async () => {
  const [wanted, others] = [await failingRecords(listener, 12), await failingRecords(stubborn, 2)];
  const dry = await run(repair('retry', { requestId: wanted.requestId }, { isDryRun: true }));
  expect(dry.text).toContain('12  failing  mended.changed  mended  Error');
  expect(dry.text).toContain('12 deliveries selected; nothing was changed.');
  expect(await wanted.states()).toEqual({ failing: 12 });
  for (const entityId of wanted.entityIds)
    for (const eventId of await eventsOf(entityId)) expect(await repairs(eventId)).toEqual([]);

  wanted.mend();
  others.mend();
  const { text } = await run(repair('retry', { listener: 'mended', since: '2020-01-01T00:00:00Z' }));
  expect(text).toContain('Tried again by their workflows: 12 of 12 selected deliveries.');
  await eventually(async () => (await wanted.states())['done'] === 12);
  expect(await others.states()).toEqual({ failing: 2 });
  // Events that happened later than this are left out.
  expect((await run(repair('skip', { listener: 'stubborn', until: '2020-01-01T00:00:00Z' }))).isDone).toBe(false);
  await run(repair('skip', { listener: 'stubborn' }));
  await eventually(async () => (await others.states())['skipped'] === 2);
});

test('a repair goes no faster than asked, says how far it is, and is stopped', async () => {
  const many = await failingRecords(stubborn, 8);
  many.mend();
  const printed: string[] = [];
  const running = run(repair('retry', { requestId: many.requestId }, { perSecond: 1 }), (line) => printed.push(line));
  const line = await eventually(() => printed.find((text) => /: [2-6] of 8 deliveries/.test(text)));
  const repairId = /repair (\w+):/.exec(line)?.[1] ?? '';
  expect((await run({ name: 'progress', repairId })).text).toMatch(/\d of 8 deliveries/);
  const stop = { name: 'stop', repairId, operator: 'somebody@machine', reason: 'too early' } as const;
  expect((await run(stop)).isDone).toBe(true);
  expect((await running).text).toMatch(
    /Tried again by their workflows: [2-6] of 8 selected deliveries. It was stopped./,
  );
  await eventually(async () => ((await many.states())['done'] ?? 0) >= 2);
  expect((await many.states())['failing']).toBeGreaterThanOrEqual(2);
  expect(
    await asOwner(world, `select operation, reason from event_repairs where repair_id = $1 order by operation`, [
      repairId,
    ]),
  ).toEqual([
    { operation: 'retry', reason: 'the cause is removed' },
    { operation: 'stop', reason: 'too early' },
  ]);
  expect(await run(stop)).toMatchObject({ isDone: false, text: expect.stringContaining('has ended already') });
  await run(repair('retry', { requestId: many.requestId }));
  await eventually(async () => (await many.states())['done'] === 8);
});

test('long repairs continue as new, and take each delivery once', async () => {
  const many = await failingRecords(stubborn, 5);
  const selection = { requestId: many.requestId };
  const handle = await startRepair(world, 'repair-by-hand', { selection, pagesPerRun: 1 });
  expect(await handle.result()).toMatchObject({ selected: 5, repaired: 5, isStopped: false });
  await waitForRuns(world, `WorkflowId = "${world.name}/repair-by-hand" AND ExecutionStatus = "ContinuedAsNew"`, 2);
  // They stay broken: a workflow that got its command may still be about to try, and what works then is done instead of skipped.
  expect(await many.states()).toEqual({ failing: 5 });
  await run(repair('skip', { requestId: many.requestId }));
  await eventually(async () => (await many.states())['skipped'] === 5);
});

test('deliveries that do not exist are named', async () => {
  const unknown = newId();
  expect(await run({ name: 'show', eventId: unknown })).toMatchObject({
    isDone: false,
    text: expect.stringContaining(`There is no event ${unknown}`),
  });
  expect((await run({ name: 'progress', repairId: unknown })).text).toBe(`There is no repair ${unknown}.`);
  const stop = { name: 'stop', repairId: unknown, operator: 'x', reason: 'x' } as const;
  expect((await run(stop)).isDone).toBe(false);
  expect(await asOwner(world, 'select 1 from event_repairs where repair_id = $1', [unknown])).toEqual([]);
});

test('the next page of a list begins where the last one ended', async () => {
  const many = await failingRecords(stubborn, 3);
  const selection = { states: ['failing'], requestId: many.requestId } as const;
  const page = await run({ name: 'list', selection, limit: 2 });
  const after = /--after (\S+)/.exec(page.text)?.[1] ?? '';
  const [occurredAt = '', eventId = '', name = ''] = after.split('/');
  const next = await run({ name: 'list', selection, limit: 2, after: { occurredAt, eventId, listener: name } });
  expect(next.text.split('\n')).toHaveLength(1);
  const ids = [page, next].flatMap(({ text }) =>
    [...text.matchAll(/Z {2}(\w{26}) {2}failing/g)].map((match) => match[1]),
  );
  expect(new Set(ids).size).toBe(3);
  expect((await run({ name: 'count', selection })).text).toContain('3  failing  stubborn.changed  stubborn  Error');
  many.mend();
  await run(repair('retry', { requestId: many.requestId }));
  await eventually(async () => (await many.states())['done'] === 3 && isSettled(world));
});

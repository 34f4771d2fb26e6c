import { afterAll, beforeAll, expect, test } from 'vitest';
import { systemCaller } from '#entities/kit/model/caller.ts';
import { newId } from '#entities/kit/base/ids.ts';
import { reindexPartition } from '#entities/kit/outbox/partition-indexes.ts';
import { maintainPartitions } from '#entities/kit/outbox/outbox.ts';
import type { UnitOfWork } from '#entities/kit/unit/unit-of-work.ts';
import type { SweepReport } from '#workflows/kit/sweep-contract.ts';
import { asOwner } from '../../kit/as-owner.ts';
import { eventually } from '../../kit/eventually.ts';
import { shows } from '../../kit/shows.ts';
import { runSchedule } from '../../kit/sweep.ts';
import { openWorld, type World } from '../../kit/world.ts';

const dayMs = 86_400_000;
const keep = { eventsMs: 7 * dayMs, historyMs: 30 * dayMs };

let world: World;
beforeAll(async () => {
  world = await openWorld({
    worker: true,
    environment: { CORE_JOBQUEUE_QUEUECONF_REINDEXERINDEXNAMES: 'events_request' },
  });
  await transact((unit) => maintainPartitions(unit, new Date(Date.now() - dayMs), keep));
});
afterAll(() => world.close());

const transact = <T>(work: (unit: UnitOfWork) => Promise<T>) =>
  world.runtime.database.transact({ caller: systemCaller('test'), requestId: newId() }, work);

/** Files of the indexes of partitions, by name; a new file is a rebuilt index. */
async function filesOf(parent: string): Promise<Map<string, string>> {
  const rows = await asOwner<{ name: string; file: string }>(
    world,
    `select c.relname as name, pg_relation_filenode(c.oid)::text as file from pg_inherits i join pg_class c on c.oid = i.inhrelid
       join pg_class p on p.oid = i.inhparent where p.relname = $1`,
    [parent],
  );
  return new Map(rows.map(({ name, file }) => [name, file]));
}

const handle = () => world.runtime.temporal.client.schedule.getHandle(`${world.name}/reindex-partitions`);

test('named indexes are rebuilt in the partitions of days that have passed', async () => {
  shows('jobqueue.queueconf.ReindexerIndexNames');
  const before = [await filesOf('events_request'), await filesOf('events_batch')] as const;
  const report = await runSchedule<SweepReport>(world, 'reindex-partitions');
  expect(report).toMatchObject({ done: 1, failed: 0, skipped: { 'a default partition': 1 } });
  const after = await filesOf('events_request');
  const rebuilt = [...after].filter(([name, file]) => before[0].get(name) !== file).map(([name]) => name);
  const yesterday = new Date(Date.now() - dayMs).toISOString().slice(0, 10).replaceAll('-', '');
  expect(rebuilt).toEqual([expect.stringContaining(`events_${yesterday}`)]);
  expect(await filesOf('events_batch')).toEqual(before[1]);
});

test('the schedule runs when ReindexerSchedule says, and is paused without one', async () => {
  shows('jobqueue.queueconf.ReindexerSchedule');
  expect((await handle().describe()).state).toMatchObject({ paused: true, note: 'paused by the configuration' });
  await world.reconfigure({ CORE_JOBQUEUE_QUEUECONF_REINDEXERSCHEDULE: '0 3 * * *' });
  const description = await eventually(async () => {
    const described = await handle().describe();
    return !described.state.paused && described;
  });
  expect(description.info.nextActionTimes[0]?.getUTCHours()).toBe(3);
  await world.reconfigure({ CORE_JOBQUEUE_QUEUECONF_REINDEXERSCHEDULE: undefined });
  await eventually(async () => (await handle().describe()).state.paused);
});

test('an index that is not rebuilt within ReindexerTimeout fails, and is left as it is', async () => {
  shows('jobqueue.queueconf.ReindexerTimeout');
  await world.reconfigure({ CORE_JOBQUEUE_QUEUECONF_REINDEXERTIMEOUT: '1000' });
  // The database's own function takes longer than that.
  await asOwner(world, 'alter function reindex_partition(text) rename to quick_reindex');
  await asOwner(
    world,
    `create function reindex_partition(wanted text) returns void language sql security definer as 'select pg_sleep(5)'`,
  );
  await asOwner(world, 'grant execute on function reindex_partition(text) to core_system');
  expect(await runSchedule<SweepReport>(world, 'reindex-partitions')).toMatchObject({ done: 0, failed: 1 });
  await asOwner(world, 'drop function reindex_partition(text)');
  await asOwner(world, 'alter function quick_reindex(text) rename to reindex_partition');
});

test('an index that belongs to no partition is refused', async () => {
  await expect(transact((unit) => reindexPartition(unit, 'tasks_pkey'))).rejects.toThrow();
});

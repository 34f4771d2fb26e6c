import { lockPartitionIndex, partitionIndexes, reindexPartition } from '#entities/kit/outbox/partition-indexes.ts';
import { maintenanceQueue } from '#workflows/kit/maintenance-queue.ts';
import { defineSweep } from '../define-sweep.ts';

/** The records are indexes of partitions: those of days that have passed, to which nothing is written. */
export const reindexPartitionsSweep = defineSweep({
  name: 'reindexPartitions',
  description: 'Rebuilds indexes of partitions (jobqueue.queueconf.ReindexerIndexNames).',
  queue: maintenanceQueue,
  every: '0 3 * * *',
  settings: ({ jobqueue: { queueconf } }) => ({
    ...(queueconf.ReindexerSchedule === '' ? {} : { every: queueconf.ReindexerSchedule }),
    isEnabled: queueconf.ReindexerSchedule !== '',
    actionTimeoutMs: queueconf.ReindexerTimeout,
  }),
  find: (unit, { config, limit, after: [after = ''] = [], only }) =>
    partitionIndexes(unit, { names: config.jobqueue.queueconf.ReindexerIndexNames, after, limit, only }),
  lock: lockPartitionIndex,
  decide: ({ day }, { now }) => {
    if (day === null) return { action: null, reason: 'a default partition' };
    return day < now.toISOString().slice(0, 10).replaceAll('-', '')
      ? { action: 'reindex', reason: 'its day has passed' }
      : { action: null, reason: 'its day has not passed' };
  },
  act: (unit, { id }) => reindexPartition(unit, id),
});

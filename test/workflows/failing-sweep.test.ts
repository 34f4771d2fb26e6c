import { expect, test } from 'vitest';
import {
  createMaintenanceActivities,
  type MaintenanceDependencies,
} from '#activities/maintenance/maintenance-activities.ts';
import { createLogger } from '#runtime/logger.ts';

test('of several parts of a sweep that fail each one is told of', async () => {
  const lines: string[] = [];
  const failing = (part: string) => () => Promise.reject(new Error(`${part} failed`));
  const deps: Omit<MaintenanceDependencies, 'database'> = {
    logger: createLogger('test', { level: 'info' }, { write: (line: string) => void lines.push(line) }),
    now: () => new Date(),
    rescueAfterMs: () => 1_000,
    sweepEvents: failing('events'),
    resumeDeliveries: () => Promise.resolve(0),
    applyTuples: failing('tuples'),
    keep: () => ({ eventsMs: 1_000, historyMs: 1_000 }),
  };
  // A sweep has its transactions in its parts.
  const activities = createMaintenanceActivities(deps as MaintenanceDependencies);
  await expect(activities.sweepOutbox()).rejects.toThrow('events failed');
  expect(lines.map((line) => (JSON.parse(line) as { err: { message: string } }).err.message)).toEqual([
    'events failed',
    'tuples failed',
  ]);
});

import { setTimeout as pause } from 'node:timers/promises';
import type { ActivityDependencies } from '../kit/activity-dependencies.ts';
import type { BackfillProgress } from '#workflows/maintenance/run-backfill-routine.contract.ts';
import { doPage, failuresOf } from './backfill-page.ts';
import type { Backfill } from './define-backfill.ts';

/** Records of one page. */
const pageSize = 100;

/** After so many milliseconds a slice ends with the current page. */
const sliceMs = 2_000;

/** Longest rest between two pages, in milliseconds. */
const maxRestMs = 5_000;

/**
 * Does pages of a backfill for a while, in short transactions. Nobody waits for it, and others do wait for PostgreSQL: it rests as long as
 * a page took, and longer while pages take longer than the fastest one, or others wait for a connection of this process.
 */
export async function runSlice(
  { config, database }: Pick<ActivityDependencies, 'config' | 'database'>,
  backfill: Backfill,
): Promise<BackfillProgress> {
  const endsAt = Date.now() + sliceMs;
  const isOn = () => config.current.backfill.enabled && backfill.isWanted(config.current);
  let fastestMs = Infinity;
  let progress: BackfillProgress = { status: 'stopped', examined: 0, changed: 0, failed: 0 };
  while (isOn()) {
    const startedAt = performance.now();
    const run = await doPage(database, backfill, pageSize);
    const tookMs = performance.now() - startedAt;
    fastestMs = Math.min(fastestMs, tookMs);
    const { status, examinedRecords: examined, changedRecords: changed } = run;
    progress = { status, examined, changed, failed: failuresOf(run).length };
    if (status === 'completed' || (isOn() && Date.now() >= endsAt)) return progress;
    const isBusy = database.connections.waiting > 0;
    await pause(Math.min(maxRestMs, (tookMs * tookMs) / fastestMs + (isBusy ? maxRestMs / 2 : 0)));
  }
  return { ...progress, status: 'stopped' };
}

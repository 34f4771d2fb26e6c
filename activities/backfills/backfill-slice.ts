import { setTimeout as pause } from 'node:timers/promises';
import type { ActivityDependencies } from '../kit/activity-dependencies.ts';
import type { BackfillProgress } from '#workflows/maintenance/run-backfill-routine.contract.ts';
import { doPage, failuresOf } from './backfill-page.ts';
import type { Backfill } from './define-backfill.ts';

/** Records of one page. */
const pageSize = 100;

/** After so many milliseconds a slice ends with the current page. */
const sliceMs = 2_000;

/** Longest rest after a page, in milliseconds. */
const maxRestMs = 5_000;

/** PostgreSQL is busy, or the connections of this process are, when an answer takes so many times the fastest one. */
const busyFrom = 5;

/** How long backfills of this process rest. Nobody waits for them, and others do wait for PostgreSQL. */
export class BackfillPace {
  #fastestMs = Infinity;

  /**
   * The rest after a page: as long as the page took, and longer while others are served slowly.
   * @param answerMs how long a statement without work took just now, with the wait for a connection
   */
  restAfter(pageMs: number, answerMs: number): number {
    this.#fastestMs = Math.min(this.#fastestMs, answerMs);
    return Math.min(maxRestMs, pageMs * Math.max(1, answerMs / (busyFrom * this.#fastestMs)));
  }
}

type SliceDependencies = Pick<ActivityDependencies, 'config' | 'database'> & { readonly pace: BackfillPace };

/** Does pages of a backfill for a while, in short transactions, with a rest after each. */
export async function runSlice(
  { config, database, pace }: SliceDependencies,
  backfill: Backfill,
): Promise<BackfillProgress> {
  const endsAt = Date.now() + sliceMs;
  const isOn = () => config.current.backfill.enabled && backfill.isWanted(config.current);
  let progress: BackfillProgress = { status: 'stopped', examined: 0, changed: 0, failed: 0 };
  while (isOn()) {
    const startedAt = performance.now();
    const run = await doPage(database, backfill, pageSize);
    const doneAt = performance.now();
    const { status, examinedRecords: examined, changedRecords: changed } = run;
    progress = { status, examined, changed, failed: failuresOf(run).length };
    if (status === 'completed') return progress;
    await database.ping(Date.now() + maxRestMs);
    await pause(pace.restAfter(doneAt - startedAt, performance.now() - doneAt));
    if (Date.now() >= endsAt && isOn()) return progress;
  }
  return { ...progress, status: 'stopped' };
}

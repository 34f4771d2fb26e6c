import { pino } from 'pino';
import type { Sweep } from '#activities/sweeps/define-sweep.ts';
import { sweepPage } from '#activities/sweeps/sweep-page.ts';
import type { SweepPage, SweepReport } from '#workflows/kit/sweep-contract.ts';
import type { World } from './world.ts';

/** A whole run of a sweep in this process, page after page, as its workflow does it. */
export async function runSweep(
  { config, runtime }: Pick<World, 'config' | 'runtime'>,
  sweep: Sweep,
  first: SweepPage = {},
  logger = pino({ enabled: false }),
): Promise<SweepReport> {
  const { database, temporal } = runtime;
  const deps = { config, database, temporal, logger, onSwept: () => {} };
  for (let page = first; ;) {
    const { report, next, run } = await sweepPage(deps, sweep, page);
    if (!next) return report;
    page = { ...first, after: next, report, ...(run ? { run } : {}) };
  }
}

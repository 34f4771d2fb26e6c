import type { SweepPage, SweptPage } from '#workflows/kit/sweep-contract.ts';
import { defineActivities } from '../kit/activity-dependencies.ts';
import { releaseSweeps } from './release-sweeps.ts';
import { sweepPage, type SweepDependencies } from './sweep-page.ts';

export const createSweepActivities = defineActivities((deps: SweepDependencies) =>
  Object.fromEntries(
    releaseSweeps.map((sweep) => [sweep.name, (page: SweepPage): Promise<SweptPage> => sweepPage(deps, sweep, page)]),
  ),
);

import type { ActivityOptions } from '@temporalio/common';
import { activityOptions, type ActivityQueue } from '../kit/activity-queue.ts';

/** Task queue of exports and imports. */
export const transferQueue = 'exports';

export interface TransferInput {
  readonly queue: ActivityQueue;
  /** Id of the record of the kind `export` or `import`. */
  readonly id: string;
  /** Names the run: the record says which run does its work. */
  readonly runId: string;
}

export type TransferOutcome = 'completed' | 'failed' | 'ended';

/** Options of activities that read or write all records: the heartbeats of the worker show that an attempt is alive. */
export function longOptions(queue: ActivityQueue): ActivityOptions {
  return { ...activityOptions(queue), startToCloseTimeout: '12 hours' };
}

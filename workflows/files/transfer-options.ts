import type { ActivityOptions } from '@temporalio/common';
import { activityOptions, type ActivityQueue } from '../kit/activity-queue.ts';

/** Task queue of what reads and writes stored bytes. */
export const storageQueue = 'storage';

/** Attempts of an activity in one run. */
const maxAttempts = 5;

/**
 * Options of activities that move bytes. The largest file is read twice, which takes hours, so an attempt is not limited by `JobTimeout`; the
 * heartbeats of the worker show that it is alive. After a few attempts the run ends, and the row of the file says when it is due again.
 */
export function transferOptions(queue: ActivityQueue): ActivityOptions {
  return {
    ...activityOptions(queue),
    startToCloseTimeout: '12 hours',
    retry: { ...activityOptions(queue).retry, maximumAttempts: maxAttempts },
  };
}

/** Options of activities that run a few statements and move no bytes: an attempt takes no longer than `JobTimeout`. */
export function statementOptions(queue: ActivityQueue): ActivityOptions {
  const { retry, ...options } = activityOptions(queue);
  return { ...options, retry: { ...retry, maximumAttempts: maxAttempts } };
}

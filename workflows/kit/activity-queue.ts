import type { ActivityOptions } from '@temporalio/common';

/**
 * Where activities run and how they are tried. It comes with the input of a workflow, because workflow code reads no
 * configuration (`jobqueue.queueconf`: JobTimeout, JobStuckThreshold, MaxAttempts, RetryPolicy).
 */
export interface ActivityQueue {
  /** Full name of the task queue. */
  readonly taskQueue: string;
  /** Longest single attempt. */
  readonly attemptTimeoutMs: number;
  /** An attempt that gives no sign of life for this long is lost; the worker gives one by itself while it runs. */
  readonly heartbeatTimeoutMs: number;
  readonly retry: {
    readonly maximumAttempts: number;
    readonly initialIntervalMs: number;
    readonly backoffCoefficient: number;
    readonly maximumIntervalMs: number;
  };
}

/** The defaults of a queue in the form `proxyActivities` takes; what a workflow knows better it puts over them. */
export function activityOptions({ taskQueue, attemptTimeoutMs, heartbeatTimeoutMs, retry }: ActivityQueue) {
  return {
    taskQueue,
    startToCloseTimeout: attemptTimeoutMs,
    heartbeatTimeout: heartbeatTimeoutMs,
    retry: {
      maximumAttempts: retry.maximumAttempts,
      initialInterval: retry.initialIntervalMs,
      backoffCoefficient: retry.backoffCoefficient,
      maximumInterval: retry.maximumIntervalMs,
    },
  } satisfies ActivityOptions;
}

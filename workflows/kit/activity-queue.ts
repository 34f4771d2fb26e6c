import type { ActivityOptions } from '@temporalio/common';

/**
 * Settings of the task queue that a contract names: where activities run, and how they are tried. They are part of the
 * workflow's input, because workflow code reads no configuration (`jobqueue.queueconf`: JobTimeout, JobStuckThreshold,
 * MaxAttempts, RetryPolicy).
 */
export interface ActivityQueue {
  /** Full name of the task queue. */
  readonly taskQueue: string;
  /** Longest single attempt. */
  readonly attemptTimeoutMs: number;
  /** An attempt without a heartbeat for this long is tried elsewhere; the worker sends heartbeats while it runs one. */
  readonly heartbeatTimeoutMs: number;
  readonly retry: {
    readonly maximumAttempts: number;
    readonly initialIntervalMs: number;
    readonly backoffCoefficient: number;
    readonly maximumIntervalMs: number;
  };
}

/** The settings of a queue in the form `proxyActivities` takes; a workflow may override them. */
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

import type { ActivityQueue } from './activity-queue.ts';

/** Argument with which a workflow is started; whoever starts it adds the settings of its queue. */
export type StartInput<Input> = Omit<Input, 'queue'>;

/**
 * Everything the rest of the product knows of a workflow. A contract file stands beside the file of its workflow, is found
 * there by the worker, and imports nothing that runs, so that api, relay and activities can use it.
 */
export interface WorkflowContract<Input> {
  /** Temporal type, and name of the exported function; the file has the same name in kebab-case. */
  readonly name: string;
  /** The same input has the same id: a second start finds the first run. Without the prefix of the installation. */
  readonly workflowId: (input: StartInput<Input>) => string;
  /** Task queue of its activities, without the prefix of the installation; absent when it has local activities only. */
  readonly queue?: string;
  /** Signal that says that there is work, for workflows that are woken (`wake` of a listener). */
  readonly wakeSignal?: string;
  /** Which tasks of a full queue are begun first: those of its workflow and its activities; 3 when left out. */
  readonly priority?: (input: StartInput<Input>) => WorkflowPriority;
  /** Starts it again and again; the name of the schedule is the id of the workflow. */
  readonly schedule?: WorkflowSchedule<Input>;
  /** Carries the input's type only. */
  readonly '~input'?: Input;
}

/** 1 goes first (Temporal's priority key). */
export type WorkflowPriority = 1 | 2 | 3 | 4 | 5;

export interface WorkflowSchedule<Input> {
  /** When it starts: an interval in milliseconds, or a cron expression in UTC. */
  readonly every: number | string;
  /** Input that the configuration gives it; absent when it needs none. */
  readonly input?: (settings: ScheduleSettings) => StartInput<Input>;
}

/** Values of the configuration that inputs of schedules are made from. */
export interface ScheduleSettings {
  /** `jobqueue.queueconf.JobCleanerTimeout`. */
  readonly jobCleanerTimeoutMs: number;
}

/** A workflow whose input has a `queue` must name it; any other must not. */
type QueueOf<Input> = Input extends { readonly queue: ActivityQueue }
  ? { readonly queue: string }
  : { readonly queue?: never };

export function defineContract<Input>(contract: WorkflowContract<Input> & QueueOf<Input>): WorkflowContract<Input> {
  return contract;
}

/** The request that caused a piece of work; passed in headers through every workflow and activity. */
export interface WorkOrigin {
  readonly requestId: string;
  readonly traceparent?: string;
  /** Caller who caused it, as in history. */
  readonly actor: string;
}

/** Header that carries a `WorkOrigin`. */
export const originHeader = 'core-origin';

/**
 * Time limit of one workflow task, after which a lost worker is noticed also while it runs local activities
 * (`JobStuckThreshold`). Temporal allows two minutes.
 */
export function workflowTaskTimeoutMs(heartbeatTimeoutMs: number): number {
  return Math.min(heartbeatTimeoutMs, 120_000);
}

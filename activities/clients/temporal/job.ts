/** A start of a workflow, or one attempt of an activity. */
export interface Job {
  readonly type: 'start' | 'activity';
  /** Type of the workflow or activity. */
  readonly name: string;
  /** Full name of the task queue. */
  readonly queue: string;
  readonly workflowId: string;
  readonly attempt?: number;
}

/** Runs around jobs, to log or measure them; it changes neither their input nor their result. */
export type JobMiddleware = <T>(job: Job, work: () => Promise<T>) => Promise<T>;

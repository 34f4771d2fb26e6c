/**
 * What the rest of the product knows of a workflow: its name, its input, its id and what it is found by. Contract files
 * import nothing that runs, so that api, relay and activities can use them.
 */
export interface WorkflowContract<Input> {
  /** File name, exported function and Temporal type in one word. */
  readonly name: string;
  /** The same work has the same id; a second start of it is the first one. */
  readonly workflowId: (input: Input) => string;
  /** Carries the input's type only. */
  readonly '~input'?: Input;
}

export function defineContract<Input>(contract: WorkflowContract<Input>): WorkflowContract<Input> {
  return contract;
}

/** Which request work belongs to; carried in headers from the request through every workflow and activity. */
export interface WorkOrigin {
  readonly requestId: string;
  readonly traceparent?: string;
  /** Who caused it, as history writes it. */
  readonly actor: string;
}

/** Header that carries a `WorkOrigin`. */
export const originHeader = 'core-origin';

/**
 * Time a worker has for one step of workflow code, and after which a lost worker is noticed while it runs local activities:
 * that is a sign of life too (`JobStuckThreshold`). Temporal allows two minutes.
 */
export function workflowTaskTimeoutMs(heartbeatTimeoutMs: number): number {
  return Math.min(heartbeatTimeoutMs, 120_000);
}

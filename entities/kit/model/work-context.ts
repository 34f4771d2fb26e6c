import type { Caller } from './caller.ts';

/** The context of a unit of work: its caller, request and limits. Without a caller, work is refused all access to data. */
export interface WorkContext {
  readonly caller: Caller;
  readonly requestId: string;
  /** W3C Trace Context `traceparent` of the span the work belongs to. */
  readonly traceparent?: string;
  /** The HTTP request to which the work belongs; work of workers has none. */
  readonly request?: HttpRequest;
  /** The transaction is read-only: PostgreSQL rejects writes. */
  readonly readOnly?: boolean;
  /** Nothing is answered from results that were read before (`db.cachettl`). */
  readonly isFresh?: boolean;
  /** Time by which the work must have ended, in milliseconds since the epoch. */
  readonly deadline?: number;
  /** Condition under which the work continues; it costs no round trip of its own. */
  readonly precondition?: Precondition;
}

/** A statement that is sent together with the first one of a unit of work. If its result is not the expected one, both fail. */
export interface Precondition {
  readonly text: string;
  readonly values: readonly (string | null)[];
  /** @param result the only column of the only row, as text. @throws AppError when the work must stop */
  check(result: string | null): void;
}

/** An HTTP request as its events record it. */
export interface HttpRequest {
  readonly method: string;
  /** The pattern of the route, such as `/v1/tasks/:id`: an address can contain secrets. */
  readonly route: string;
  /** Status of the answer; null for a request that was refused, and of a route with several statuses of success. */
  readonly status: number | null;
}

/** The request to which work belongs. */
export type Origin = Pick<WorkContext, 'requestId' | 'traceparent' | 'request'>;

export interface CommitSummary {
  readonly requestId: string;
  /** Events with at least one listener. */
  readonly pendingEvents: number;
  readonly tupleChanges: number;
  /** Objects that records own since the commit, or no longer: they are to be copied, and later removed. */
  readonly objectChanges: number;
  /** Changes that subscribers receive. */
  readonly feedChanges: number;
  /** Whether rights to records that existed before the commit may have changed. */
  readonly hasChangedRights: boolean;
}

/** Returns a context that has a caller. The type requires one, but at run time a lost context has none. @throws Error without a caller */
export function withCaller(context: WorkContext): WorkContext {
  if (!(context as Partial<WorkContext>).caller)
    throw new Error('work without a caller is refused: the context of its request was lost');
  return context;
}

import type { Caller } from './caller.ts';

/** Everything work must know about where it comes from. Losing it means losing the right to data. */
export interface WorkContext {
  readonly caller: Caller;
  readonly requestId: string;
  /** W3C Trace Context `traceparent` of the span the work belongs to. */
  readonly traceparent?: string;
  /** Refuses writes in the database itself. */
  readonly readOnly?: boolean;
  /** When the work must have ended, in milliseconds of the epoch. */
  readonly deadline?: number;
}

/** Which request work belongs to. */
export type Origin = Pick<WorkContext, 'requestId' | 'traceparent'>;

export interface CommitSummary {
  readonly requestId: string;
  /** Events that some listener wants. */
  readonly pendingEvents: number;
  readonly tupleChanges: number;
  /** Whether decisions about records change that were there before. */
  readonly hasChangedRights: boolean;
}

/** Types ask for a caller; work that lost its context on the way comes without one. @throws Error then */
export function withCaller(context: WorkContext): WorkContext {
  if (!(context as Partial<WorkContext>).caller)
    throw new Error('work without a caller is refused: the context of its request was lost');
  return context;
}

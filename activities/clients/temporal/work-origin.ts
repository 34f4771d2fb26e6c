import { AsyncLocalStorage } from 'node:async_hooks';
import type { Caller } from '#entities/kit/model/caller.ts';
import type { WorkContext } from '#entities/kit/model/work-context.ts';
import type { WorkOrigin } from '#workflows/kit/contract.ts';

const current = new AsyncLocalStorage<WorkOrigin>();

/** Runs work on behalf of a request: the workflows it starts and the lines it logs have the request's id and trace. */
export function withOrigin<T>(origin: WorkOrigin, work: () => T): T {
  return current.run(origin, work);
}

/** The request the current work is done for, if any. */
export function currentOrigin(): WorkOrigin | undefined {
  return current.getStore();
}

/**
 * Context of a unit of work that an activity does: it belongs to the request that caused the activity.
 * @param otherwise request id of work that no request caused
 */
export function workContext(caller: Caller, otherwise: string): WorkContext {
  const { requestId = otherwise, traceparent } = currentOrigin() ?? {};
  return { caller, requestId, ...(traceparent === undefined ? {} : { traceparent }) };
}

import { AsyncLocalStorage } from 'node:async_hooks';
import { continuing } from '#entities/kit/base/trace.ts';
import type { Caller } from '#entities/kit/model/caller.ts';
import type { WorkContext } from '#entities/kit/model/work-context.ts';
import type { WorkOrigin } from '#workflows/kit/contract.ts';

/** Fields of log lines about the work in which they are written, besides its origin. */
export interface WorkPlace {
  readonly workflowId?: string;
  readonly organizationId?: string | null;
}

interface CurrentWork extends WorkPlace {
  readonly origin?: WorkOrigin;
}

const current = new AsyncLocalStorage<CurrentWork>();

/**
 * Runs work on behalf of a request: the workflows it starts and the lines it logs have the request's id and trace, and what it does
 * belongs to the span of `traceparent`.
 */
export function withOrigin<T>({ requestId, traceparent, actor, ...place }: WorkOrigin & WorkPlace, work: () => T): T {
  const origin = { requestId, actor, ...(traceparent === undefined ? {} : { traceparent }) };
  return current.run({ ...current.getStore(), ...place, origin }, () => continuing(traceparent, work));
}

/** Runs work that no request caused: the lines it logs say where it runs. */
export function withPlace<T>(place: WorkPlace, work: () => T): T {
  return current.run({ ...current.getStore(), ...place }, work);
}

/** The request the current work is done for, if any. */
export function currentOrigin(): WorkOrigin | undefined {
  return current.getStore()?.origin;
}

/** Fields of log lines about the current work. */
export function currentWork(): (WorkPlace & { readonly origin?: WorkOrigin }) | undefined {
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

import { AsyncLocalStorage } from 'node:async_hooks';
import type { WorkOrigin } from '#workflows/kit/contract.ts';

const current = new AsyncLocalStorage<WorkOrigin>();

/** Runs work on behalf of a request: workflows it starts and logs it writes carry the request's id and trace. */
export function withOrigin<T>(origin: WorkOrigin, work: () => T): T {
  return current.run(origin, work);
}

/** The request the current work is done for, if any. */
export function currentOrigin(): WorkOrigin | undefined {
  return current.getStore();
}

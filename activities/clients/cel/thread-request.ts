import type { CelItem, CelLimits, CelResult, CompiledCel } from './cel-contract.ts';

/** One message to a thread. */
export interface ThreadRequest {
  /** A `CelEnvironment` as JSON, which is also the key under which it is kept. */
  readonly environment: string;
  readonly limits: CelLimits;
  readonly items: readonly CelItem[];
  readonly task: 'compile' | 'evaluate';
  /** Time that the whole batch may take, in milliseconds; undefined if each item has the timeout of the limits. */
  readonly togetherMs?: number;
  /** Two counters: steps done, and the index of the current item. They show the pool that the thread lives, and what ended it. */
  readonly progress: Int32Array<SharedArrayBuffer>;
}

export type ThreadResponse =
  | { readonly compiled: readonly CompiledCel[] }
  | { readonly results: readonly CelResult[] }
  /** A mistake of the caller, such as an environment that is not well-formed. */
  | { readonly mistake: string };

/** Time in which one expression must be compiled, in milliseconds. It bounds hostile ones; usual ones take one or two. */
export const compileTimeoutMs = 5000;

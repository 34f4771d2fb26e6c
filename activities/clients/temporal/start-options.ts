import type { SearchValues } from '#workflows/kit/search-attributes.ts';

/** How a workflow is started. */
export interface StartOptions {
  readonly search: SearchValues;
  /**
   * `once`: a workflow of this id that has ended stays ended (default). `again`: it may run again; for work that is
   * idempotent and whose rows say that it is not done.
   */
  readonly repeat?: 'once' | 'again';
  /** Time for which the workflow waits before its first task, in milliseconds. */
  readonly startDelayMs?: number;
}

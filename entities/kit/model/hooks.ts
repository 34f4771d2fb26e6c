import type { FieldValues, Fields } from './fields.ts';
import type { RecordChange } from './record-change.ts';

/** When values are written, and whether the record exists already. */
export interface Writing {
  readonly operation: 'create' | 'update';
  readonly at: Date;
}

/**
 * What a kind does besides what its declaration says. Rules do not belong here: they belong in the policy, which the
 * authorization store and explanations know.
 */
export interface EntityHooks<F extends Fields> {
  /**
   * Values to write in the same change as others. Pure, and without access to the stored record: one result may be written to
   * many records.
   * @param values all values of a new record, with defaults, and null for empty fields; or the values that change in a record
   */
  derivedValues?(values: Partial<FieldValues<F>>, writing: Writing): Partial<FieldValues<F>>;
  /**
   * Runs after the commit, in the process that made it, best effort: for caches. A failure is only logged, and the hook is lost
   * when the process dies; what must not be lost is an event.
   * @param changes of records of the kind, in their order
   */
  afterCommit?(changes: readonly RecordChange[]): void | Promise<void>;
}

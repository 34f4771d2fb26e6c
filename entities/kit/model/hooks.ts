import type { FieldValues } from './field-values.ts';
import type { Fields } from './declared-field.ts';
import type { RecordChange } from './record-change.ts';

export interface Writing {
  readonly operation: 'create' | 'update';
  readonly at: Date;
}

/**
 * Code of a kind that its declaration cannot express. Rules do not belong here but in the policy, from which the authorization
 * model and the explanations of decisions are derived.
 */
export interface EntityHooks<F extends Fields> {
  /**
   * Computes further values for the same change. Pure, and without access to the stored record: one result may be written to
   * many records.
   * @param values all values of a new record, with defaults, and null for empty fields; or the values that change in a record
   */
  derivedValues?(values: Partial<FieldValues<F>>, writing: Writing): Partial<FieldValues<F>>;
  /**
   * Runs after the commit in the committing process, best effort, for example to invalidate a cache. A failure is only logged,
   * and the hook does not run when the process dies first; use an event for work that must not be lost.
   * @param changes of records of the kind, in the order in which they were made
   */
  afterCommit?(changes: readonly RecordChange[]): void | Promise<void>;
}

export type RecordedOperation = 'created' | 'updated' | 'deleted';

/** One change of one record, as history, events and hooks see it. */
export interface RecordChange {
  readonly operation: RecordedOperation;
  readonly id: string;
  readonly recordVersion: number;
  readonly organizationId: string | null;
  /** Names of the fields that differ; all set fields of a creation. */
  readonly changedFields: readonly string[];
  /** Field values before (null: creation) and after the change. */
  readonly before: Readonly<Record<string, unknown>> | null;
  readonly after: Readonly<Record<string, unknown>>;
  /** Another change of the same unit of work caused this one, and only that one is announced. */
  readonly isCascaded?: true;
}

export type RecordedOperation = 'created' | 'updated' | 'deleted';

/** A change of one record, as history, events and hooks receive it. */
export interface RecordChange {
  readonly operation: RecordedOperation;
  readonly id: string;
  readonly recordVersion: number;
  readonly organizationId: string | null;
  /** Names of the changed fields; for a creation, those of all fields that are set. */
  readonly changedFields: readonly string[];
  /** Field values before (null: creation) and after the change. */
  readonly before: Readonly<Record<string, unknown>> | null;
  readonly after: Readonly<Record<string, unknown>>;
  /** The change is the consequence of another one in the same unit of work, for which alone events are recorded. */
  readonly isCascaded?: true;
  /** The same with events of its own. Neither sort is refused because its organization is archived. */
  readonly isConsequence?: true;
}

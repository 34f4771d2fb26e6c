import type { RecordedChange } from '../model/changes.ts';
import { tupleChanges, type Tuple } from '../model/tuples.ts';
import type { ChangeCounters } from './change-counters.ts';

export interface TupleRow extends Tuple {
  readonly present: boolean;
  readonly organization_id: string | null;
  /** Whether the tuple changes decisions about a record that others may know, so that the revision of its scope is bumped. */
  readonly raises: boolean;
}

/** One row of the table `desired_tuples` for each tuple that these changes add or take away. */
export function tupleRows(changes: readonly RecordedChange[], counters: ChangeCounters): TupleRow[] {
  return changes.flatMap((change) =>
    tupleChanges(
      change.module.grants ?? [],
      change.before?.['deletedAt'] == null ? change.before : null,
      change.after['deletedAt'] == null ? change.after : null,
    ).map((tuple) => ({
      ...tuple,
      organization_id: change.organizationId,
      raises: counters.isAboutOthers(tuple.object, changes),
    })),
  );
}

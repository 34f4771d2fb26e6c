import type { RecordedChange } from '../model/recorded-changes.ts';
import { tupleChanges, type Tuple } from '../model/tuples.ts';
import type { ChangeCounters } from './change-counters.ts';

interface TupleRow extends Tuple {
  readonly present: boolean;
  readonly organization_id: string | null;
  /** Whether the tuple changes rights to an existing record, so that the revision of its scope must be bumped. */
  readonly raises: boolean;
}

/** Rows of the table `desired_tuples`: one for each tuple that these changes add or remove. */
export function tupleRows(changes: readonly RecordedChange[], counters: ChangeCounters): TupleRow[] {
  return changes.flatMap((change) =>
    tupleChanges(
      change.module.grants ?? [],
      change.before?.['deletedAt'] == null ? change.before : null,
      change.after['deletedAt'] == null ? change.after : null,
    ).map((tuple) => ({
      ...tuple,
      organization_id: change.organizationId,
      raises: counters.changesExistingRights(tuple.object, changes),
    })),
  );
}

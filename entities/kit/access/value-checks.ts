import type { AppError } from '../base/errors.ts';
import type { Caller } from '../model/caller.ts';
import type { Work } from '../storage/work.ts';

/** A record as it would be after a creation or a change. */
export interface CheckedValues {
  readonly caller: Caller;
  readonly row: Readonly<Record<string, unknown>>;
  /** JSON pointer of its input in the input of the operation. */
  readonly path: string;
}

/** @returns the error for values that are refused */
type ValueCheck = (work: Work, values: CheckedValues) => Promise<AppError | undefined>;

/** Checks of values that need more than the database, by the names by which kinds ask for them (`checkedBy`). */
export type ValueChecks = Readonly<Record<string, ValueCheck>>;

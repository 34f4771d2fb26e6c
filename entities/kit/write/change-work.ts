import type { DatabaseOptions } from '../access/database-options.ts';
import { actorOf } from '../model/caller.ts';
import type { RecordedChange } from '../model/recorded-changes.ts';
import type { EntityModule } from '../model/define.ts';
import type { Origin } from '../model/work-context.ts';
import type { Statement } from '../storage/sql.ts';
import type { DatabaseRole, RoleSession } from '../storage/transaction.ts';
import type { Work } from '../storage/work.ts';
import type { ChangeCounters } from './change-counters.ts';

type Row = Record<string, unknown>;

export interface Stamp {
  readonly at: Date;
  readonly actor: string;
}

export function stampOf({ clock, context }: Pick<ChangeWork, 'clock' | 'context'>): Stamp {
  return { at: clock.now(), actor: actorOf(context.caller) };
}

/** A field of a change that is not written now, while the others are. */
export interface HeldField {
  readonly field: string;
  /** The reason, as text for people. */
  readonly message: string;
}

/** The part of a unit of work that changes of records need. */
export interface ChangeWork extends Work {
  readonly options: DatabaseOptions;
  /** The request for which changes are recorded now. */
  readonly origin: Origin;
  readonly counters: ChangeCounters;
  /** Ids of rows that this unit of work created and has not deleted since. */
  readonly created: Set<string>;
  /** Fields that the last change of a record did not write, by the record's id (`hold` of a behaviour). */
  readonly held: Map<string, readonly HeldField[]>;
  /**
   * Runs work that reads rows in order to change them, one after the other: of two concurrent changes of a row, the second reads
   * the result of the first.
   */
  serialize<T>(work: () => Promise<T>): Promise<T>;
  /** Buffers new rows. They are written with the next flush. */
  insert(role: DatabaseRole, rows: readonly { readonly module: EntityModule; readonly row: Row }[]): Promise<void>;
  /** Buffers a change of a row that was read and locked in this transaction. @returns the row as it will be written */
  update(role: DatabaseRole, module: EntityModule, row: Row, change: { values: Row; stamp: Stamp }): Promise<Row>;
  /** Changes rows by statements of `change`, and records the changes that it returns. Buffered changes are written first. */
  changeRows(
    role: DatabaseRole,
    module: EntityModule,
    change: (session: RoleSession) => Promise<readonly RecordedChange[]>,
  ): Promise<void>;
  /**
   * Runs the only statement of this unit of work, which changes rows of a kind, and commits it, in one round trip
   * (storage/one-round-trip.ts).
   * @param statement all its result columns are text
   * @param count is given the rows, and counts what follows from the change
   * @throws AppError, see `pipelinedChange`
   */
  changeInOneStatement(
    module: EntityModule,
    statement: Statement,
    count: (rows: readonly (readonly (string | null)[])[]) => void,
  ): Promise<void>;
  /** Runs in this process after the commit, best effort. */
  afterCommit(hook: () => void | Promise<void>): void;
}

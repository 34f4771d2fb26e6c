import type { DatabaseOptions } from '../access/database-options.ts';
import type { AppError } from '../base/errors.ts';
import type { Caller } from '../model/caller.ts';
import type { RecordedChange } from '../model/recorded-changes.ts';
import type { EntityModule } from '../model/define.ts';
import type { EventDraft } from '../model/event-draft.ts';
import type { Origin } from '../model/work-context.ts';
import type { Statement } from '../storage/sql.ts';
import type { DatabaseRole, RoleSession } from '../storage/transaction.ts';
import type { Work } from '../storage/work.ts';
import type { ChangeCounters } from './change-counters.ts';
import type { HeldField, HeldPart, HoldRequest } from './held-changes.ts';

type Row = Record<string, unknown>;

export interface Stamp {
  readonly at: Date;
  readonly actor: string;
}

export function stampOf({ clock, actor }: Pick<ChangeWork, 'clock' | 'actor'>): Stamp {
  return { at: clock.now(), actor };
}

/** Holds changes of records until people approve them, as the published definitions of workflows say (behaviour `automated`). */
export interface Gates {
  /** Whether workflows are enabled: otherwise nothing is held. */
  readonly isEnabled: () => boolean;
  /**
   * Decides which fields are held, or whether a deletion is, or why the change is refused, by the id of the record; it writes nothing.
   * @param gates ids of the versions in force in the organization of the records (`Caller.gates`); at least one
   */
  hold(
    work: ChangeWork,
    caller: Caller,
    request: GateRequest,
  ): Promise<ReadonlyMap<string, readonly HeldField[] | AppError>>;
  /** Writes proposals and instances for what it has just held. Each change has the held fields alone. */
  record(work: ChangeWork, caller: Caller, request: HoldRequest): Promise<void>;
}

export interface GateRequest extends HoldRequest {
  readonly gates: readonly string[];
}

export interface WriteOptions extends DatabaseOptions {
  /** Absent in processes that change no records of people. */
  readonly gates?: Gates;
}

/** The part of a unit of work that changes of records need. */
export interface ChangeWork extends Work {
  readonly options: WriteOptions;
  /** The request for which changes are recorded now. */
  readonly origin: Origin;
  /** The actor that history and events name now (`actorOf`). */
  readonly actor: string;
  readonly counters: ChangeCounters;
  /** Ids of rows that this unit of work created and has not deleted since. */
  readonly created: Set<string>;
  /** Fields that the last change of a record did not write, by the record's id (`hold` of a behaviour). */
  readonly held: Map<string, HeldPart>;
  /** Ids of records whose approved changes this unit of work applies: gates do not hold them again (behaviour `automated`). */
  readonly passing: Set<string>;
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
  /** Records a custom event of a kind (custom-events.ts) with the next flush. */
  emit(event: EventDraft): void;
  /** Runs in this process after the commit, best effort. */
  afterCommit(hook: () => void | Promise<void>): void;
}

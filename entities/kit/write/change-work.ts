import type { DatabaseOptions } from '../access/database-options.ts';
import type { RecordedChange } from '../model/changes.ts';
import type { EntityModule } from '../model/define.ts';
import type { Origin } from '../model/work-context.ts';
import type { DatabaseRole, RoleSession } from '../storage/transaction.ts';
import type { Work } from '../storage/work.ts';
import type { ChangeCounters } from './change-counters.ts';

type Row = Record<string, unknown>;

/** Who changes rows, and when. */
export interface Stamp {
  readonly at: Date;
  readonly actor: string;
}

/** What changing records needs of a unit of work. */
export interface ChangeWork extends Work {
  readonly options: DatabaseOptions;
  /** The request that the current changes are recorded for. */
  readonly origin: Origin;
  readonly counters: ChangeCounters;
  /** Ids of rows that this unit of work created and that nothing can have deleted since. */
  readonly created: Set<string>;
  /**
   * Runs work that reads a row in order to change it, one at a time: of two parallel changes of one row, the second reads
   * what the first has written.
   */
  serialize<T>(work: () => Promise<T>): Promise<T>;
  /** Buffers new rows. They are written with the next flush. */
  insert(role: DatabaseRole, rows: readonly { readonly module: EntityModule; readonly row: Row }[]): Promise<void>;
  /** Buffers a change of a row that was read and locked in this transaction. @returns the row as it will be written */
  update(role: DatabaseRole, module: EntityModule, row: Row, change: { values: Row; stamp: Stamp }): Promise<Row>;
  /** Changes rows directly, and records what follows from that. Buffered changes are written before. */
  changeRows(
    role: DatabaseRole,
    module: EntityModule,
    change: (session: RoleSession) => Promise<readonly RecordedChange[]>,
  ): Promise<void>;
  /** Runs in this process after the commit, best effort. */
  afterCommit(hook: () => void | Promise<void>): void;
}

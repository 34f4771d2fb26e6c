import type { Caller } from '../model/caller.ts';
import type { EntityModule } from '../model/define.ts';
import { missingRecord } from '../model/missing-record.ts';
import type { JudgedRow, RowAccess } from '../write/plan-changes.ts';

type Row = Record<string, unknown>;

/** What is done with one row on behalf of a caller. */
export interface RowReader {
  readLocked(module: EntityModule, id: string): Promise<Row | undefined>;
  may(module: EntityModule, operation: 'edit' | 'remove', row: Row): Promise<boolean>;
}

/** The row to lock, and for whom. */
interface LockTarget {
  readonly module: EntityModule;
  readonly id: string;
  readonly caller: Caller;
}

/** One row, locked by the statement that reads it, and judged by the authorization store. */
export class LockedRow implements RowAccess {
  readonly #module: EntityModule;
  readonly #id: string;
  readonly #caller: Caller;
  readonly #readerFor: (caller: Caller) => RowReader;
  #row: Row | undefined;

  /** @param readerFor the reader of a caller of the unit of work */
  constructor(target: LockTarget, readerFor: (caller: Caller) => RowReader) {
    this.#module = target.module;
    this.#id = target.id;
    this.#caller = target.caller;
    this.#readerFor = readerFor;
  }

  /** @throws AppError not_found */
  async lock(): Promise<void> {
    this.#row = await this.#readerFor(this.#caller).readLocked(this.#module, this.#id);
    if (!this.#row) throw missingRecord(this.#module, this.#id);
  }

  async read(caller: Caller): Promise<ReadonlyMap<string, JudgedRow>> {
    const reader = this.#readerFor(caller);
    const row = caller === this.#caller ? this.#row : await reader.readLocked(this.#module, this.#id);
    if (!row) return new Map();
    return new Map([[this.#id, { row, may: (operation) => reader.may(this.#module, operation, row) }]]);
  }
}

import type { Caller } from '../model/caller.ts';
import type { LockedOperation } from '../read/selection.ts';
import type { EntityModule } from '../model/define.ts';
import { missingRecord } from '../model/missing-record.ts';
import type { AuthorizedRow, RowAccess } from '../write/plan-changes.ts';

type Row = Record<string, unknown>;

/** Reads a row and decides rights to it, on behalf of one caller. */
export interface RowReader {
  readLocked(module: EntityModule, id: string, operation: LockedOperation): Promise<Row | undefined>;
  may(module: EntityModule, operation: 'edit' | 'remove', row: Row): Promise<boolean>;
}

/** The row to lock, and the caller who changes it. */
interface LockTarget {
  readonly module: EntityModule;
  readonly id: string;
  readonly operation: LockedOperation;
  readonly caller: Caller;
}

/** One row, locked by the statement that reads it and authorized by the authorization store. */
export class LockedRow implements RowAccess {
  readonly #module: EntityModule;
  readonly #id: string;
  readonly #operation: LockedOperation;
  readonly #caller: Caller;
  readonly #readerFor: (caller: Caller) => RowReader;
  #row: Row | undefined;

  /** @param readerFor returns a reader with the rights of a caller */
  constructor(target: LockTarget, readerFor: (caller: Caller) => RowReader) {
    this.#module = target.module;
    this.#id = target.id;
    this.#operation = target.operation;
    this.#caller = target.caller;
    this.#readerFor = readerFor;
  }

  /** @throws AppError not_found */
  async lock(): Promise<void> {
    this.#row = await this.#readerFor(this.#caller).readLocked(this.#module, this.#id, this.#operation);
    if (!this.#row) throw missingRecord(this.#module, this.#id);
  }

  async read(caller: Caller): Promise<ReadonlyMap<string, AuthorizedRow>> {
    const reader = this.#readerFor(caller);
    const row = caller === this.#caller ? this.#row : await reader.readLocked(this.#module, this.#id, this.#operation);
    if (!row) return new Map();
    return new Map([[this.#id, { row, may: (operation) => reader.may(this.#module, operation, row) }]]);
  }
}

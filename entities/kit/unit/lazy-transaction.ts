import type { Pool } from 'pg';
import { isAppError } from '../base/errors.ts';
import { pipelinedMessages, pipelinedRead } from '../storage/pipelined-query.ts';
import type { Statement } from '../storage/sql.ts';
import { Transaction, type StatementObserver, type TransactionSettings } from '../storage/transaction.ts';

/** Where the transaction of a unit of work comes from. */
export interface TransactionSource {
  readonly pool: Pool;
  readonly options: {
    readonly observer?: StatementObserver;
    readonly onBackgroundError: (error: unknown, doing: string) => void;
  };
  /** Takes a slot for a transaction. @returns gives the slot back @throws AppError database_busy */
  acquireSlot(): () => void;
}

/** The transaction of a unit of work, which begins with the first statement, and the slot that it takes in the database. */
export class LazyTransaction {
  readonly #source: TransactionSource;
  readonly #settings: () => TransactionSettings;
  readonly #bypassLimit: boolean;
  #transaction: Promise<Transaction> | undefined;
  #begun: Transaction | undefined;
  /** Messages of a pipelined read, which needs no BEGIN. */
  #pipelinedMessages = 0;
  #releaseSlot: (() => void) | undefined;

  /** @param bypassLimit begins also when the database has no slot left, because the caller still holds one */
  constructor(source: TransactionSource, settings: () => TransactionSettings, bypassLimit: boolean) {
    this.#source = source;
    this.#settings = settings;
    this.#bypassLimit = bypassLimit;
  }

  get isStarted(): boolean {
    return this.#transaction !== undefined;
  }

  /** Statements sent so far, BEGIN and COMMIT included. */
  get statements(): number {
    return this.#begun?.statements ?? this.#pipelinedMessages;
  }

  /** @throws AppError database_busy, database_unavailable, deadline_exceeded */
  begin(): Promise<Transaction> {
    this.#transaction ??= this.#begin();
    return this.#transaction;
  }

  async #begin(): Promise<Transaction> {
    this.#takeSlot();
    this.#begun = await Transaction.begin(this.#source.pool, this.#settings(), this.#source.options.observer);
    return this.#begun;
  }

  #takeSlot(): void {
    if (!this.#bypassLimit) this.#releaseSlot = this.#source.acquireSlot();
  }

  /** Runs a statement that is a transaction of its own, in one round trip. Only while no transaction was started. */
  readOnce(statement: Statement): Promise<readonly (readonly (string | null)[])[]> {
    this.#takeSlot();
    this.#pipelinedMessages = pipelinedMessages;
    return pipelinedRead(this.#source.pool, this.#settings(), statement, this.#source.options.observer);
  }

  /** @param last runs directly before the COMMIT */
  async commit(last: (transaction: Transaction) => Promise<void>): Promise<void> {
    const transaction = await this.#transaction;
    if (!transaction) return;
    await last(transaction);
    await transaction.commit();
  }

  /** Never throws. */
  async rollback(): Promise<void> {
    // Whoever asked for a transaction that could not begin has got the error.
    const transaction = await this.#transaction?.catch(() => undefined);
    try {
      await transaction?.rollback();
    } catch (error) {
      // A lost connection rolls its transaction back.
      const isGone = isAppError(error) && error.code === 'database_unavailable';
      if (!isGone) this.#source.options.onBackgroundError(error, 'rollback');
    }
  }

  releaseSlot(): void {
    this.#releaseSlot?.();
  }
}

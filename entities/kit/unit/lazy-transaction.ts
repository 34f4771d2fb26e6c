import { isAppError } from '../base/errors.ts';
import type { Caller } from '../model/caller.ts';
import type { ReadStatement } from '../read/answer-statements.ts';
import { pipelinedChange, pipelinedMessages, pipelinedRead } from '../storage/one-round-trip.ts';
import type { TextRow } from '../storage/send-together.ts';
import type { Statement } from '../storage/sql.ts';
import { Transaction, type StatementSource, type TransactionSettings } from '../storage/transaction.ts';
import type { SidecarStatement } from './answer-work.ts';
import type { ResultCache } from './result-cache.ts';

/** The part of a database that transactions of units of work need. */
export interface TransactionSource extends StatementSource {
  readonly results: ResultCache;
  readonly options: StatementSource['options'] & {
    readonly onBackgroundError: (error: unknown, doing: string) => void;
  };
}

/** The transaction of a unit of work, which begins with the first statement. */
export class LazyTransaction {
  readonly #source: TransactionSource;
  readonly #settings: () => TransactionSettings;
  #transaction: Promise<Transaction> | undefined;
  #begun: Transaction | undefined;
  /** Number of statements of a pipelined read. */
  #pipelinedMessages = 0;

  constructor(source: TransactionSource, settings: () => TransactionSettings) {
    this.#source = source;
    this.#settings = settings;
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
    this.#begun = await Transaction.begin(this.#source, this.#settings());
    return this.#begun;
  }

  /**
   * Runs a statement as a transaction of its own, in one round trip, or only asks whether its last result still counts
   * (result-cache.ts). Must not be called after `begin`.
   * @param isFresh earlier results are not used
   * @param sidecar is sent with it, whatever is asked
   */
  readOnce(
    statement: ReadStatement,
    caller: Caller,
    isFresh: boolean,
    sidecar?: SidecarStatement,
  ): Promise<readonly TextRow[]> {
    const settings = this.#settings();
    const { results } = this.#source;
    const read = async (statements: readonly Statement[]) => {
      const all = sidecar ? [...statements, sidecar.statement] : statements;
      this.#pipelinedMessages = pipelinedMessages + all.length - 1 + (settings.precondition ? 1 : 0);
      const answers = await pipelinedRead(this.#source, settings, all);
      sidecar?.take(answers.at(-1) ?? []);
      return answers;
    };
    return isFresh ? read([statement]).then(([rows = []]) => rows) : results.read(statement, caller, read);
  }

  /**
   * Runs a statement that changes rows as a transaction of its own, in one round trip where nothing else has to be known before it is
   * committed. Must not be called after `begin`.
   */
  async changeOnce(statement: Statement): Promise<readonly TextRow[]> {
    const settings = this.#settings();
    if (settings.precondition === undefined && this.#source.options.hook === undefined) {
      this.#pipelinedMessages = pipelinedMessages;
      return pipelinedChange(this.#source, settings, statement);
    }
    const transaction = await this.begin();
    const { texts } = await transaction.query(settings.role, statement.text, statement.values);
    await transaction.commit();
    return texts;
  }

  /** Does nothing if no transaction was begun. @param last runs directly before the COMMIT */
  async commit(last: (transaction: Transaction) => Promise<void>): Promise<void> {
    const transaction = await this.#transaction;
    if (!transaction) return;
    await last(transaction);
    await transaction.commit();
  }

  /** Never throws. */
  async rollback(): Promise<void> {
    // If the transaction could not begin, the caller of `begin` has received the error.
    const transaction = await this.#transaction?.catch(() => undefined);
    try {
      await transaction?.rollback();
    } catch (error) {
      // PostgreSQL rolls back the transaction of a lost connection.
      const isGone = isAppError(error) && error.code === 'database_unavailable';
      if (!isGone) this.#source.options.onBackgroundError(error, 'rollback');
    }
  }
}

import type { PoolClient, QueryResultRow } from 'pg';
import { deadlineExceeded } from '../base/errors.ts';
import type { Precondition } from '../model/work-context.ts';
import { bind, type BoundStatement } from './bound-text.ts';
import { destroyAfter } from './connection.ts';
import type { ConnectionQueue } from './connection-queue.ts';
import { commitUnknown, databaseError } from './database-error.ts';
import type { DatabaseHook, QueryDatabase } from './database-hook.ts';
import type { databaseRoles } from './orm-schema.ts';
import { sendTogether, type Answer, type Outcome } from './send-together.ts';
import { roleStatement, settingsStatement, timeoutStatement } from './transaction-settings.ts';

export type DatabaseRole = keyof typeof databaseRoles;

export interface TransactionSettings {
  readonly role: DatabaseRole;
  readonly organizationId: string | null;
  readonly userId: string | null;
  readonly readOnly: boolean;
  /** Time by which the work must have ended, in milliseconds since the epoch; it limits `statement_timeout`. */
  readonly deadline: number;
  /** Returns the span to which a statement belongs; called when the statement is sent. */
  readonly traceparent?: () => string | undefined;
  /** See `ConnectionOwner`. */
  readonly bypassLimit?: boolean;
  readonly precondition?: Precondition | undefined;
}

export interface StatementReport {
  /** SQL text, without the bound values. */
  readonly text: string;
  /** Time from sending the statement to its last row. */
  readonly durationMs: number;
  readonly isFailed: boolean;
  /** Span to which it belongs. */
  readonly traceparent: string | undefined;
}

export interface StatementObserver {
  statement(report: StatementReport): void;
}

/** The part of a database that statements need. */
export interface StatementSource {
  readonly connections: ConnectionQueue;
  readonly options: { readonly observer?: StatementObserver; readonly hook?: DatabaseHook };
}

/** How long a statement may run beyond the deadline, in milliseconds: setting an exact timeout costs a message of its own. */
const slackMs = 250;

/**
 * How long after the deadline the end of a transaction is awaited, in milliseconds. It is longer than `slackMs`, so that the
 * timeouts of PostgreSQL take effect first.
 */
export const endTimeoutMs = 2 * slackMs;

/** SQLSTATE of statements in a transaction that has failed: they are refused, and so are those whose preparation was skipped. */
const consequences = new Set(['25P02', '26000']);

/**
 * A PostgreSQL transaction on a pooled connection. BEGIN, role, tenant settings and the precondition are sent together with the
 * first statement, so they cost no round trip of their own. Without a statement, nothing is sent.
 */
export class Transaction {
  readonly #client: PoolClient;
  readonly #options: StatementSource['options'];
  /** Why nothing more may be done in this transaction. */
  #refusal: unknown;
  /** The last error that was not only a consequence of another one. */
  #failure: Error | undefined;
  #statements = 0;
  readonly #settings: TransactionSettings;
  #role: DatabaseRole;
  /** The current `statement_timeout` of the transaction. */
  #statementTimeoutMs = 0;
  #ended = false;

  private constructor(client: PoolClient, settings: TransactionSettings, options: StatementSource['options']) {
    this.#client = client;
    this.#options = options;
    this.#settings = settings;
    this.#role = settings.role;
  }

  /** @throws AppError database_busy, database_unavailable, deadline_exceeded */
  static async begin({ connections, options }: StatementSource, settings: TransactionSettings): Promise<Transaction> {
    if (settings.deadline <= Date.now()) throw deadlineExceeded();
    return new Transaction(await connections.connect(settings, settings.deadline), settings, options);
  }

  /** Messages sent so far, COMMIT and BEGIN included, which is one with its settings. */
  get statements(): number {
    return this.#statements;
  }

  get isEnded(): boolean {
    return this.#ended;
  }

  as(role: DatabaseRole): RoleSession {
    return new RoleSession(this, role);
  }

  /**
   * Runs one statement with bound parameters under the given role. Statements can be sent without waiting for each other. They
   * run in the order of the calls, and a change of role is sent together with the statement that needs it, so concurrent
   * work never runs under the wrong role.
   * @throws AppError for expected errors (`databaseError`); other database errors as they are
   */
  async query<Row extends QueryResultRow>(
    role: DatabaseRole,
    text: string,
    values: readonly unknown[] = [],
  ): Promise<Answer<Row>> {
    if (this.#ended)
      throw new Error('this transaction has ended; await all work before the unit of work is committed or rolled back');
    if (this.#refusal !== undefined) throw databaseError(this.#refusal, this.#role);
    const leftMs = timeLeft(this.#settings);
    // A value that cannot be bound must not leave the transaction in another state than the one that is noted below.
    const statement = bind({ text, values });
    return this.#statements === 0
      ? this.#sendFirst<Row>(role, leftMs, statement)
      : this.#sendNext(role, leftMs, statement);
  }

  /** Begins under the role of the first statement; a precondition is one of the role for which the transaction works. */
  async #sendFirst<Row extends QueryResultRow>(
    role: DatabaseRole,
    timeoutMs: number,
    statement: BoundStatement,
  ): Promise<Answer<Row>> {
    const { precondition, readOnly, userId } = this.#settings;
    if (!precondition) this.#role = role;
    this.#statementTimeoutMs = timeoutMs;
    const settings = { role: this.#role, organizationId: this.#organizationFor(this.#role), userId };
    const begin = [
      { text: readOnly ? 'begin read only' : 'begin', values: [] },
      settingsStatement(settings, timeoutMs),
      ...(precondition ? [precondition] : []),
    ];
    this.#statements = -1;
    return this.#send<Row>(statement, [...begin, ...this.#switchTo(role)], ({ answers, error }) => {
      try {
        // A state that has changed explains what fails because of it, so it is reported first.
        if (answers.length < begin.length) throw error;
        precondition?.check(answers[begin.length - 1]?.texts[0]?.[0] ?? null);
      } catch (refusal) {
        this.#refusal = refusal;
        throw refusal;
      }
    });
  }

  #sendNext<Row extends QueryResultRow>(
    role: DatabaseRole,
    leftMs: number,
    statement: BoundStatement,
  ): Promise<Answer<Row>> {
    const before: BoundStatement[] = [];
    // Shortens `statement_timeout` to the time that is left until the deadline.
    if (this.#statementTimeoutMs - leftMs >= slackMs) {
      this.#statementTimeoutMs = leftMs;
      before.push(timeoutStatement(leftMs));
    }
    return this.#send(statement, [...before, ...this.#switchTo(role)]);
  }

  #switchTo(role: DatabaseRole): BoundStatement[] {
    if (role === this.#role) return [];
    this.#role = role;
    return [roleStatement(role, this.#organizationFor(role))];
  }

  /**
   * The organization whose rows a role sees. Work of a caller that continues under the system role has no organization setting, because the
   * row-level security policy of that role would limit it to the organization. Work of the server for an organization keeps it: under the
   * app role, for the rights of a person, nothing is visible without it.
   */
  #organizationFor(role: DatabaseRole): string | null {
    const keepsIt = role === 'app' || role === this.#settings.role;
    return keepsIt ? this.#settings.organizationId : null;
  }

  /**
   * @param before is sent together with the statement; when it fails, the statement is skipped, and so has the transaction failed
   * @param check throws an error that is reported instead
   */
  async #send<Row extends QueryResultRow>(
    statement: BoundStatement,
    before: readonly BoundStatement[] = [],
    check: (outcome: Outcome) => void = () => {},
  ): Promise<Answer<Row>> {
    this.#statements += before.length + 1;
    const role = this.#role;
    const startedAt = performance.now();
    const report = { text: statement.text, traceparent: this.#settings.traceparent?.() };
    let isFailed = true;
    try {
      const outcome = await sendTogether(this.#client, [...before, statement]);
      check(outcome);
      if (outcome.error) throw this.#causeOf(outcome.error);
      isFailed = false;
      return outcome.answers[before.length] as Answer<Row>;
    } catch (error) {
      // An error of the server is made where its message arrives.
      Error.captureStackTrace(error as Error);
      throw databaseError(error, role);
    } finally {
      this.#options.observer?.statement({ ...report, isFailed, durationMs: performance.now() - startedAt });
    }
  }

  /** Statements fail because of one before them, and whoever waits for one of them learns why. */
  #causeOf(error: Error): Error {
    const isConsequence = consequences.has((error as { readonly code?: string }).code ?? '');
    if (!isConsequence) this.#failure = error;
    return this.#failure ?? error;
  }

  /** @throws AppError for expected errors (`databaseError`); other database errors as they are */
  async commit(): Promise<void> {
    if (this.#ended) throw new Error('this transaction has already ended');
    if (this.#refusal !== undefined) throw databaseError(this.#refusal, this.#role);
    const afterwards = await this.#beforeCommit();
    await this.#end('commit');
    await afterwards?.();
  }

  #beforeCommit(): ReturnType<DatabaseHook['beforeCommit']> | undefined {
    if (this.#settings.readOnly || this.#statements === 0) return undefined;
    const query: QueryDatabase = async (text, values) => (await this.query(this.#role, text, values)).rows as never;
    return this.#options.hook?.beforeCommit(query, this.#settings.deadline);
  }

  /** Does nothing to a transaction that has ended. */
  async rollback(): Promise<void> {
    if (!this.#ended) await this.#end('rollback');
  }

  async #end(command: 'commit' | 'rollback'): Promise<void> {
    this.#ended = true;
    if (this.#statements === 0) return this.#client.release();
    // Does not wait forever for a server that does not answer, or for a statement that its timeout cannot stop.
    const limit = destroyAfter(this.#client, Math.max(this.#settings.deadline, Date.now()) + endTimeoutMs);
    try {
      const result = await this.#send({ text: command, values: [] });
      // PostgreSQL executes COMMIT of a failed transaction as ROLLBACK and reports success.
      if (command === 'commit' && result.command !== 'COMMIT')
        throw new Error('the transaction had failed and was rolled back');
      this.#client.release();
    } catch (error) {
      // The state of the connection is unknown, so it is closed and not given to another request.
      this.#client.release(true);
      throw command === 'commit' ? commitUnknown(error) : error;
    } finally {
      limit.cancel();
    }
  }
}

/** In milliseconds. @throws AppError deadline_exceeded */
export function timeLeft({ deadline }: Pick<TransactionSettings, 'deadline'>): number {
  const leftMs = Math.ceil(deadline - Date.now());
  if (leftMs <= 0) throw deadlineExceeded();
  return leftMs;
}

/** Runs statements of a transaction under one role. */
export class RoleSession {
  readonly #transaction: Transaction;
  readonly #role: DatabaseRole;

  constructor(transaction: Transaction, role: DatabaseRole) {
    this.#transaction = transaction;
    this.#role = role;
  }

  /** @throws AppError, see `Transaction.query` */
  query<Row extends QueryResultRow>(text: string, values: readonly unknown[] = []): Promise<Answer<Row>> {
    return this.#transaction.query<Row>(this.#role, text, values);
  }
}

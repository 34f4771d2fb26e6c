import type { PoolClient, QueryResultRow } from 'pg';
import { destroyAfter } from './connection.ts';
import type { ConnectionQueue } from './connection-queue.ts';
import { commitUnknown, databaseError } from './database-error.ts';
import { deadlineExceeded } from '../base/errors.ts';
import type { Answer } from './sent-statement.ts';
import { roleStatement, settingsStatement, timeoutStatement } from './settings-statement.ts';
import { runStatement, runStatementApart } from './statement-batch.ts';
import type { Statement } from './sql.ts';
import type { RowImages, SecondDatabase } from './second-database.ts';
import type { databaseRoles } from './orm-schema.ts';
import type { Precondition } from '../model/work-context.ts';

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

/** A statement that has ended. */
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

/** Who is told of statements, and who gets changes. */
interface TransactionReceivers {
  readonly observer: StatementObserver | undefined;
  readonly second: SecondDatabase | undefined;
}

/** How long a statement may run beyond the deadline, in milliseconds: setting an exact timeout costs a message of its own. */
const slackMs = 250;

/**
 * How long after the deadline the end of a transaction is awaited, in milliseconds. It is longer than `slackMs`, so that the
 * timeouts of PostgreSQL take effect first.
 */
export const endTimeoutMs = 2 * slackMs;

/**
 * A PostgreSQL transaction on a pooled connection. BEGIN, role, tenant settings and the precondition are sent together with the
 * first statement (pipelined), so they cost no round trip of their own. Without a statement, nothing is sent.
 */
export class Transaction {
  readonly #client: PoolClient;
  readonly #observer: StatementObserver | undefined;
  readonly #second: SecondDatabase | undefined;
  /** The answers to BEGIN and the precondition, until the first statement waits for them. */
  #begun: Promise<unknown> | undefined;
  /** Why nothing more may be done in this transaction. */
  #refusal: unknown;
  #statements = 0;
  readonly #settings: TransactionSettings;
  #role: DatabaseRole;
  /** The current `statement_timeout` of the transaction. */
  #statementTimeoutMs = 0;
  #ended = false;

  private constructor(client: PoolClient, settings: TransactionSettings, receivers: TransactionReceivers) {
    this.#client = client;
    this.#observer = receivers.observer;
    this.#second = receivers.second;
    this.#settings = settings;
    this.#role = settings.role;
  }

  /** @throws AppError database_busy, database_unavailable, deadline_exceeded */
  static async begin(
    connections: ConnectionQueue,
    settings: TransactionSettings,
    observer?: StatementObserver,
  ): Promise<Transaction> {
    if (settings.deadline <= Date.now()) throw deadlineExceeded();
    const client = await connections.connect(settings, settings.deadline);
    return new Transaction(client, settings, { observer, second: connections.second });
  }

  /** Messages sent so far, BEGIN and COMMIT included. */
  get statements(): number {
    return this.#statements;
  }

  get isEnded(): boolean {
    return this.#ended;
  }

  /** A session that runs statements under the given role. */
  as(role: DatabaseRole): RoleSession {
    return new RoleSession(this, role);
  }

  /**
   * Runs one statement with bound parameters under the given role. Statements can be sent without waiting for each other. They
   * run in the order of the calls, and a change of role is sent directly before the statement that needs it, so concurrent
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
    const leftMs = this.#timeLeft();
    if (this.#statements === 0) this.#begin(role, leftMs);
    else this.#shortenTimeout(leftMs);
    if (role !== this.#role) this.#switchRole(role);
    return this.#send<Row>({ text, values });
  }

  /** Begins under the role of the first statement; a precondition is one of the role for which the transaction works. */
  #begin(role: DatabaseRole, timeoutMs: number): void {
    const { precondition } = this.#settings;
    if (!precondition) this.#role = role;
    this.#statements++;
    this.#statementTimeoutMs = timeoutMs;
    const begun = this.#sendBegin();
    this.#begun = precondition ? Promise.all([begun, this.#require(precondition)]) : begun;
    // The first statement awaits this promise; a rejection before that must not count as unhandled.
    this.#begun.catch(() => {});
  }

  async #sendBegin(): Promise<void> {
    const tenant = {
      role: this.#role,
      organizationId: this.#organizationFor(this.#role),
      userId: this.#settings.userId,
    };
    const { text, values } = settingsStatement(tenant, this.#statementTimeoutMs);
    await Promise.all([
      runStatement(this.#client, this.#settings.readOnly ? 'begin read only' : 'begin', []),
      runStatement(this.#client, text, values),
    ]);
  }

  async #require(precondition: Precondition): Promise<void> {
    this.#statements++;
    const { text, values } = precondition;
    try {
      const { rows } = await runStatement<{ readonly result: string | null }>(this.#client, text, values);
      precondition.check(rows[0]?.result ?? null);
    } catch (error) {
      this.#refusal = error;
      throw error;
    }
  }

  /** Time until the deadline, in milliseconds. @throws AppError deadline_exceeded */
  #timeLeft(): number {
    const leftMs = Math.ceil(this.#settings.deadline - Date.now());
    if (leftMs <= 0) throw deadlineExceeded();
    return leftMs;
  }

  /** Shortens `statement_timeout` to the time that is left until the deadline. */
  #shortenTimeout(leftMs: number): void {
    if (this.#statementTimeoutMs - leftMs < slackMs) return;
    this.#statementTimeoutMs = leftMs;
    // If this fails, the transaction has failed, and the statement after it reports that.
    this.#send(timeoutStatement(leftMs)).catch(() => {});
  }

  /** Switches to another role. */
  #switchRole(role: DatabaseRole): void {
    this.#role = role;
    // If this fails, the transaction has failed, and the statement after it reports that.
    this.#send(roleStatement(role, this.#organizationFor(role))).catch(() => {});
  }

  /**
   * The organization whose rows a role sees. Work of a caller that goes on under the system role has no organization setting, because the
   * row-level security policy of that role would limit it to the organization. Work of the server for an organization keeps it: under the
   * app role, for the rights of a person, nothing is visible without it.
   */
  #organizationFor(role: DatabaseRole): string | null {
    const keepsIt = role === 'app' || role === this.#settings.role;
    return keepsIt ? this.#settings.organizationId : null;
  }

  /** @param run `runStatementApart` for the end, which a statement that fails beside it must not skip */
  async #send<Row extends QueryResultRow>({ text, values }: Statement, run = runStatement<Row>): Promise<Answer<Row>> {
    this.#statements++;
    const role = this.#role;
    const startedAt = performance.now();
    const traceparent = this.#settings.traceparent?.();
    const begun = this.#begun;
    this.#begun = undefined;
    try {
      const answer = run(this.#client, text, values);
      // The first statement waits for the answer to BEGIN as well, so that its failure is reported.
      const result = await (begun === undefined ? answer : answerAfter(begun, answer));
      this.#report({ text, traceparent, isFailed: false }, startedAt);
      return result;
    } catch (error) {
      // An error of the server is made where its message arrives.
      Error.captureStackTrace(error as Error);
      this.#report({ text, traceparent, isFailed: true }, startedAt);
      throw databaseError(error, role);
    }
  }

  #report(statement: Omit<StatementReport, 'durationMs'>, startedAt: number): void {
    this.#observer?.statement({ ...statement, durationMs: performance.now() - startedAt });
  }

  /** @throws AppError for expected errors (`databaseError`); other database errors as they are */
  async commit(): Promise<void> {
    if (this.#ended) throw new Error('this transaction has already ended');
    if (this.#refusal !== undefined) throw databaseError(this.#refusal, this.#role);
    const commitInSecond = await this.#prepareInSecond();
    await this.#end('commit');
    await commitInSecond?.();
  }

  /** Prepares the changes in the second database, if there is one and there are any. @returns commits them there */
  async #prepareInSecond(): Promise<(() => Promise<void>) | undefined> {
    if (!this.#second || this.#settings.readOnly) return undefined;
    const { rows } = await this.query<RowImages & QueryResultRow>(
      this.#role,
      'select gid, images from take_row_images()',
    );
    return rows[0] && this.#second.prepare(rows[0], this.#settings.deadline);
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
      const result = await this.#send({ text: command, values: [] }, runStatementApart);
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

async function answerAfter<T>(begun: Promise<unknown>, answer: Promise<T>): Promise<T> {
  const [begin, result] = await Promise.allSettled([begun, answer]);
  if (begin.status === 'rejected') throw begin.reason;
  if (result.status === 'rejected') throw result.reason;
  return result.value;
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

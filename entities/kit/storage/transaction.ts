import type { Pool, PoolClient, QueryConfig, QueryResult, QueryResultRow } from 'pg';
import { connect, destroyAfter } from './connection.ts';
import { databaseError } from './database-error.ts';
import { AppError, deadlineExceeded, isAppError } from '../base/errors.ts';
import { closeDropped, preparedOn, type Wire } from './prepared.ts';
import { databaseRoles, sessionSettings } from './orm-schema.ts';
import { isId } from '../base/ids.ts';

export type DatabaseRole = keyof typeof databaseRoles;

export interface TransactionSettings {
  readonly role: DatabaseRole;
  readonly organizationId: string | null;
  readonly userId: string | null;
  readonly readOnly: boolean;
  /** When the work must have ended, in milliseconds of the epoch: no statement gets longer than what is left. */
  readonly deadline: number;
  /** Span a statement belongs to, asked when it is sent. */
  readonly traceparent?: () => string | undefined;
}

/** A statement that has ended. */
export interface StatementReport {
  /** SQL without its values, which are bound. */
  readonly text: string;
  /** From sending to the last row. */
  readonly durationMs: number;
  readonly isFailed: boolean;
  /** Span it belongs to. */
  readonly traceparent: string | undefined;
}

export interface StatementObserver {
  statement(report: StatementReport): void;
}

/** By how much a statement may outlast the deadline, in milliseconds: a shorter limit costs a message of its own. */
const slackMs = 250;

/**
 * How long after the deadline the end of a transaction is waited for, in milliseconds; longer than `slackMs`, so that the
 * server's own limits come first.
 */
export const patienceMs = 2 * slackMs;

/**
 * One PostgreSQL transaction on one pooled connection. BEGIN, role and tenant settings travel as one message together
 * with the first statement (pipelined), so they cost no round trip of their own.
 */
export class Transaction {
  readonly #client: PoolClient;
  readonly #observer: StatementObserver | undefined;
  #begun: Promise<unknown> | undefined;
  #statements = 1;
  readonly #home: TransactionSettings;
  #role: DatabaseRole;
  /** `statement_timeout` as the server has it. */
  #statementTimeoutMs: number;
  #ended = false;

  private constructor(client: PoolClient, settings: TransactionSettings, observer: StatementObserver | undefined) {
    this.#client = client;
    this.#observer = observer;
    this.#home = settings;
    this.#role = settings.role;
    this.#statementTimeoutMs = remainingMs(settings.deadline);
    this.#begun = client.query(beginMessage(settings, this.#statementTimeoutMs));
    // The first statement awaits it; a failure before that must not count as unhandled.
    this.#begun.catch(() => {});
  }

  /** @throws AppError database_busy, database_unavailable, deadline_exceeded */
  static async begin(pool: Pool, settings: TransactionSettings, observer?: StatementObserver): Promise<Transaction> {
    if (settings.deadline <= Date.now()) throw deadlineExceeded();
    return new Transaction(await connect(pool, settings.deadline), settings, observer);
  }

  /** Messages sent so far, BEGIN and COMMIT included. */
  get statements(): number {
    return this.#statements;
  }

  get isEnded(): boolean {
    return this.#ended;
  }

  /** The transaction as one of the two roles sees it. */
  as(role: DatabaseRole): RoleSession {
    return new RoleSession(this, role);
  }

  /**
   * Runs one statement with bound parameters under the given role. Statements may be sent without waiting for each other;
   * they run in the order of the calls, and a change of role travels directly before the statement that needs it, so
   * parallel work never runs under the role of somebody else.
   * @throws AppError for what a caller can do something about; other database errors as they are.
   */
  async query<Row extends QueryResultRow>(
    role: DatabaseRole,
    text: string,
    values: readonly unknown[] = [],
  ): Promise<QueryResult<Row>> {
    if (this.#ended) throw new Error('this transaction has ended; work was left running after its request');
    this.#shortenTimeout();
    if (role !== this.#role) this.#become(role);
    return this.#send<Row>(text, values);
  }

  /** What is left of the deadline shrinks while the handler works. */
  #shortenTimeout(): void {
    const leftMs = this.#home.deadline - Date.now();
    if (leftMs <= 0) throw deadlineExceeded();
    if (this.#statementTimeoutMs - leftMs < slackMs) return;
    this.#statementTimeoutMs = leftMs;
    // When it fails the transaction has failed, and the statement behind it reports that.
    this.#send(`set local statement_timeout = ${leftMs}`, []).catch(() => {});
  }

  /**
   * Away from home the tenant setting is lifted: a system role scoped to one organization is held to it by the wall like
   * anybody else.
   */
  #become(role: DatabaseRole): void {
    const organizationId = role === this.#home.role ? (this.#home.organizationId ?? '') : '';
    this.#role = role;
    // When it fails the transaction has failed, and the statement behind it reports that.
    this.#send(
      `set local role ${databaseRoles[role]}; set local ${sessionSettings.organizationId} = '${organizationId}'`,
      [],
    ).catch(() => {});
  }

  async #send<Row extends QueryResultRow>(text: string, values: readonly unknown[]): Promise<QueryResult<Row>> {
    this.#statements++;
    const startedAt = performance.now();
    const traceparent = this.#home.traceparent?.();
    // The first statement waits for the answer to BEGIN as well, so that its failure is reported.
    const begun = this.#begun;
    this.#begun = undefined;
    try {
      const answer = this.#client.query<Row>(statementOf(this.#client, text, values));
      const [begin, result] = await Promise.allSettled([begun, answer]);
      if (begin.status === 'rejected') throw begin.reason;
      if (result.status === 'rejected') throw result.reason;
      this.#report({ text, traceparent, isFailed: false }, startedAt);
      return result.value;
    } catch (error) {
      this.#report({ text, traceparent, isFailed: true }, startedAt);
      preparedOn(this.#client).forget();
      throw databaseError(error);
    }
  }

  #report(statement: Omit<StatementReport, 'durationMs'>, startedAt: number): void {
    this.#observer?.statement({ ...statement, durationMs: performance.now() - startedAt });
  }

  /** @throws AppError for what a caller can do something about; other database errors as they are. */
  async commit(): Promise<void> {
    if (this.#ended) throw new Error('this transaction has ended already');
    await this.#end('commit');
  }

  /** Does nothing to a transaction that has ended. */
  async rollback(): Promise<void> {
    if (!this.#ended) await this.#end('rollback');
  }

  async #end(command: 'commit' | 'rollback'): Promise<void> {
    this.#ended = true;
    // A server that stands still, or a statement whose end it cannot force, keeps nobody waiting.
    const limit = destroyAfter(this.#client, Math.max(this.#home.deadline, Date.now()) + patienceMs);
    try {
      const result = await this.#send(command, []);
      // PostgreSQL answers COMMIT of a failed transaction with a successful ROLLBACK.
      if (command === 'commit' && result.command !== 'COMMIT')
        throw new Error('the transaction had failed and was rolled back');
      this.#client.release();
    } catch (error) {
      // The connection's state is unknown: close it instead of giving it to the next request.
      this.#client.release(true);
      throw command === 'commit' ? uncertain(error) : error;
    } finally {
      limit.lift();
    }
  }
}

/** Statements with values that come again are prepared on their connection, so that PostgreSQL plans them once. */
function statementOf(client: PoolClient, text: string, values: readonly unknown[]): QueryConfig {
  if (values.length === 0) return { text };
  const prepared = preparedOn(client);
  const name = prepared.takeRepeated(text);
  closeDropped((client as unknown as { readonly connection: Wire }).connection, prepared);
  return { text, values: values as unknown[], ...(name === undefined ? {} : { name }) };
}

/**
 * Runs one statement outside any transaction. @param deadline when nobody waits any more, in milliseconds of the epoch
 * @throws AppError database_busy, database_unavailable, deadline_exceeded
 */
export async function queryOutsideTransaction<Row extends QueryResultRow>(
  pool: Pool,
  statement: QueryConfig,
  deadline: number,
): Promise<QueryResult<Row>> {
  const client = await connect(pool, deadline);
  const limit = destroyAfter(client, deadline);
  try {
    const result = await client.query<Row>(statement);
    client.release();
    return result;
  } catch (error) {
    client.release(true);
    throw limit.isReached ? deadlineExceeded(error) : databaseError(error);
  } finally {
    limit.lift();
  }
}

/** A connection that breaks while COMMIT is under way leaves open what became of it. */
function uncertain(error: unknown): unknown {
  if (!isAppError(error) || error.code !== 'database_unavailable') return error;
  return new AppError(
    'database_unavailable',
    'The database connection was lost while the changes were being stored, so they may or may not be there; look before you repeat the request.',
    { details: { retryAfterSeconds: 1 }, cause: error },
  );
}

/** One role's view of a transaction. */
export class RoleSession {
  readonly #transaction: Transaction;
  readonly #role: DatabaseRole;

  constructor(transaction: Transaction, role: DatabaseRole) {
    this.#transaction = transaction;
    this.#role = role;
  }

  /** @throws AppError, see `Transaction.query` */
  query<Row extends QueryResultRow>(text: string, values: readonly unknown[] = []): Promise<QueryResult<Row>> {
    return this.#transaction.query<Row>(this.#role, text, values);
  }
}

function remainingMs(deadline: number): number {
  return Math.max(1, Math.ceil(deadline - Date.now()));
}

function beginMessage(settings: TransactionSettings, statementTimeoutMs: number): string {
  const { organizationId, userId } = settings;
  const parts = [settings.readOnly ? 'begin read only' : 'begin'];
  if (settings.role !== 'app') parts.push(`set local role ${databaseRoles[settings.role]}`);
  // Ids are inlined because SET takes no parameters; only ULIDs get this far.
  if (organizationId !== null)
    parts.push(`set local ${sessionSettings.organizationId} = '${checkedId(organizationId)}'`);
  if (userId !== null) parts.push(`set local ${sessionSettings.userId} = '${checkedId(userId)}'`);
  parts.push(`set local statement_timeout = ${statementTimeoutMs}`);
  return parts.join('; ');
}

function checkedId(id: string): string {
  if (isId(id)) return id;
  throw new TypeError(`${JSON.stringify(id)} is not an id`);
}

import type { EntityManager } from '@mikro-orm/postgresql';
import { systemCaller, type Caller } from './caller.ts';
import { recordedChanges, type RecordedChange } from './changes.ts';
import { DataClient } from './data-client.ts';
import type { Database } from './database.ts';
import { AppError } from './errors.ts';
import { failpoint } from './failpoint.ts';
import { writeRecords, type EventDraft } from './records.ts';
import { Transaction, type DatabaseRole, type RoleSession } from './transaction.ts';
import { UniqueViolation } from './database-error.ts';

/** Everything work must know about where it comes from. Losing it means losing the right to data. */
export interface WorkContext {
  readonly caller: Caller;
  readonly requestId: string;
  /** W3C Trace Context `traceparent` of the span the work belongs to. */
  readonly traceparent?: string;
  /** Refuses writes in the database itself. */
  readonly readOnly?: boolean;
  /** When the work must have ended, in milliseconds of the epoch. */
  readonly deadline?: number;
}

/** Which request work belongs to. */
export type Origin = Pick<WorkContext, 'requestId' | 'traceparent'>;

export interface CommitSummary {
  readonly requestId: string;
  /** Events that some listener wants. */
  readonly pendingEvents: number;
  readonly tupleChanges: number;
}

type State = 'open' | 'committed' | 'rolled back';

/**
 * One MikroORM unit of work in one PostgreSQL transaction (specification, Request transaction). The transaction begins
 * with the first statement. `commit` or `rollback` must be called exactly once; both free the connection.
 */
export class UnitOfWork {
  readonly context: WorkContext;
  readonly database: Database;
  readonly data: DataClient;
  #em: EntityManager;
  #transaction: Promise<Transaction> | undefined;
  #begun: Transaction | undefined;
  #flushing: Promise<void> = Promise.resolve();
  #state: State = 'open';
  #isDoomed = false;
  /** The role pending changes were made under; they are sent under it. */
  #writingAs: DatabaseRole | undefined;
  #touched = new Set<object>();
  #events: EventDraft[] = [];
  #pendingEvents = 0;
  #tupleChanges = 0;
  #outside: { readonly name: string; readonly work: (unit: UnitOfWork) => Promise<void> }[] = [];
  #afterCommit: (() => void | Promise<void>)[] = [];
  #onEnd: () => void;
  #origin: Origin;

  constructor(database: Database, context: WorkContext, onEnd: () => void) {
    this.database = database;
    this.context = context;
    this.#onEnd = onEnd;
    this.#origin = context;
    this.#em = database.orm.em.fork({ clear: true }) as EntityManager;
    this.data = new DataClient(this, context.caller);
  }

  get em(): EntityManager {
    return this.#em;
  }

  get state(): State {
    return this.#state;
  }

  /** Statements sent so far, BEGIN and COMMIT included. */
  get statements(): number {
    return this.#begun?.statements ?? 0;
  }

  /** The transaction, begun with the first call. */
  #begin(): Promise<Transaction> {
    if (this.#state !== 'open')
      throw new Error(`this unit of work is ${this.#state}; work was left running after its request`);
    const { caller, deadline, readOnly, traceparent } = this.context;
    this.#transaction ??= Transaction.begin(
      this.database.pool,
      {
        role: this.#homeRole,
        organizationId: caller.organizationId,
        userId: caller.kind === 'user' ? caller.subjectId : null,
        readOnly: readOnly ?? false,
        statementTimeoutMs: this.#remaining(deadline),
        traceparent,
      },
      this.database.options.observer,
    ).then((transaction) => {
      this.#begun = transaction;
      return transaction;
    });
    return this.#transaction;
  }

  get #homeRole(): DatabaseRole {
    return this.context.caller.kind === 'system' ? 'system' : 'app';
  }

  #remaining(deadline: number | undefined): number {
    if (deadline === undefined) return this.database.options.defaultTimeoutMs;
    const remaining = deadline - Date.now();
    if (remaining <= 0)
      throw new AppError('deadline_exceeded', 'The request took longer than its deadline; nothing was changed.');
    return remaining;
  }

  /** The transaction under the given role, with pending changes sent before, so that a read sees them. */
  async readAs(role: DatabaseRole): Promise<RoleSession> {
    await this.flush();
    return (await this.#begin()).as(role);
  }

  /** Declares that the next changes are made under this role; changes pending under the other one are sent first. */
  async writeAs(role: DatabaseRole): Promise<void> {
    if (this.#writingAs !== undefined && this.#writingAs !== role) await this.flush();
    this.#writingAs = role;
  }

  /** Whether this row was changed since the last flush. */
  isTouched(entity: object): boolean {
    return this.#touched.has(entity);
  }

  touch(entity: object): void {
    this.#touched.add(entity);
  }

  /**
   * Does part of the work on behalf of another request: its changes and events carry that request's id and trace. For
   * listeners, which serve many requests in one transaction.
   */
  async onBehalfOf<T>(origin: Origin, work: () => Promise<T>): Promise<T> {
    await this.flush();
    const own = this.#origin;
    this.#origin = origin;
    try {
      const result = await work();
      await this.flush();
      return result;
    } finally {
      this.#origin = own;
    }
  }

  /** The request the current work is done for. */
  get origin(): Origin {
    return this.#origin;
  }

  /** Announces something that is not a plain change of a record; recorded with the next flush. */
  emit(event: EventDraft): void {
    this.#events.push(event);
  }

  /**
   * Sends pending changes with their history, events and tuples. Parallel calls wait for each other.
   * @throws AppError already_exists, stale_record, still_referenced and whatever the database refuses
   */
  flush(): Promise<void> {
    const flushed = this.#flushing.then(() => this.#flush());
    this.#flushing = flushed.catch(() => {});
    return flushed;
  }

  async #flush(): Promise<void> {
    const changes = recordedChanges(this.#em, this.database.options.registry);
    const events = this.#events;
    if (changes.length === 0 && events.length === 0) return;
    this.#events = [];
    this.#touched.clear();
    const session = (await this.#begin()).as(this.#writingAs ?? this.#homeRole);
    this.#writingAs = undefined;
    try {
      this.#em.setTransactionContext(session);
      await this.#em.flush();
      const written = await writeRecords(session, changes, events, this);
      this.#pendingEvents += written.pendingEvents;
      this.#tupleChanges += written.tupleChanges;
    } catch (error) {
      this.#isDoomed = true;
      throw this.#explain(error, changes);
    }
  }

  /** Makes the changes durable. On failure everything is rolled back and the error is thrown. */
  async commit(): Promise<void> {
    if (this.#state !== 'open') throw new Error(`this unit of work is ${this.#state} already`);
    if (this.#isDoomed) throw new Error('this unit of work failed before; it can only be rolled back');
    await this.flush();
    failpoint('before-commit');
    try {
      await (await this.#transaction)?.commit();
    } catch (error) {
      this.#isDoomed = true;
      throw error;
    }
    failpoint('after-commit');
    this.#end('committed');
    for (const hook of this.#afterCommit) {
      try {
        await hook();
      } catch (error) {
        this.database.options.onBackgroundError(error, 'post-commit hook');
      }
    }
    if (this.#pendingEvents > 0 || this.#tupleChanges > 0) {
      await this.database.committed({
        requestId: this.context.requestId,
        pendingEvents: this.#pendingEvents,
        tupleChanges: this.#tupleChanges,
      });
    }
  }

  /** Gives everything up, then records what was to be recorded although the request is refused. Never throws. */
  async rollback(): Promise<void> {
    if (this.#state !== 'open') return;
    try {
      await (await this.#transaction)?.rollback();
    } catch (error) {
      this.database.options.onBackgroundError(error, 'rollback');
    }
    this.#end('rolled back');
    for (const { name, work } of this.#outside) {
      try {
        const { requestId, traceparent } = this.context;
        await this.database.transact(
          { caller: systemCaller(name), requestId, ...(traceparent ? { traceparent } : {}) },
          work,
        );
      } catch (error) {
        this.database.options.onBackgroundError(error, `recording "${name}" outside the request`);
      }
    }
  }

  /**
   * Records something that must stay although the request is refused (failed sign-ins, audit): in a transaction of its
   * own, after the ROLLBACK and before the answer, so that never two connections are held. Nothing happens on commit.
   */
  recordOutsideRequest(name: string, work: (unit: UnitOfWork) => Promise<void>): void {
    this.#outside.push({ name, work });
  }

  /** Runs in process after the commit, best effort. What must not be lost is an event instead. */
  afterCommit(hook: () => void | Promise<void>): void {
    this.#afterCommit.push(hook);
  }

  #end(state: State): void {
    this.#state = state;
    this.#em.clear();
    this.#onEnd();
  }

  #explain(error: unknown, changes: readonly RecordedChange[]): unknown {
    if (error instanceof UniqueViolation) {
      for (const { module } of changes) {
        const key = this.database.options.registry.uniqueKey(module, error.index);
        if (key) {
          return new AppError('already_exists', key.message, {
            details: { fields: key.fields.map((field) => ({ path: `/${field}`, message: key.message })) },
            cause: error,
          });
        }
      }
      return new AppError('already_exists', 'A record with these values exists already.', { cause: error });
    }
    if (error instanceof Error && error.name === 'OptimisticLockError') {
      return new AppError(
        'stale_record',
        'The record was changed by someone else; read it again and repeat the change.',
        { cause: error },
      );
    }
    return error;
  }
}

import type { EntityManager } from '@mikro-orm/postgresql';
import { bumpRevisions } from '../access/authorization-state.ts';
import { databaseRoleOf } from '../model/caller.ts';
import { recordWithCascades } from '../write/cascade.ts';
import { recordedChanges, type RecordedChange } from '../model/changes.ts';
import { DataClient } from './data-client.ts';
import type { EntityModule } from '../model/define.ts';
import type { Database } from './database.ts';
import { isAppError } from '../base/errors.ts';
import { translateWriteError } from '../write/write-error.ts';
import { failpoint } from '../base/failpoint.ts';
import { pipelinedRead, pipelinedMessages } from '../storage/pipelined-query.ts';
import { PostCommitHooks } from './post-commit-hooks.ts';
import type { Statement } from '../storage/sql.ts';
import type { EventDraft } from '../write/change-log.ts';
import { ChangeCounters } from '../write/change-counters.ts';
import { Transaction, type DatabaseRole, type RoleSession, type TransactionSettings } from '../storage/transaction.ts';
import { SerialQueue } from '../base/serial-queue.ts';
import { withCaller, type Origin, type WorkContext } from '../model/work-context.ts';

// Long because beginning, changing and ending share one state, which nobody else may see.

type State = 'open' | 'committing' | 'committed' | 'rolling back' | 'rolled back';

/**
 * One MikroORM unit of work in one PostgreSQL transaction (specification, Request transaction). The transaction begins
 * with the first statement. `commit` or `rollback` must be called exactly once; both free the connection.
 */
export class UnitOfWork {
  readonly context: WorkContext;
  readonly database: Database;
  readonly data: DataClient;
  /** Rows changed since the last flush. */
  readonly touched = new Set<object>();
  readonly counters = new ChangeCounters();
  /** Ids of rows that this unit made and that nothing can have deleted since. */
  readonly created = new Set<string>();
  #em: EntityManager | undefined;
  #transaction: Promise<Transaction> | undefined;
  #begun: Transaction | undefined;
  /** Messages of a read that was all there was. */
  #pipelinedMessageCount = 0;
  /** Gives back what the database allowed this unit. */
  #leave: (() => void) | undefined;
  readonly #flushes = new SerialQueue();
  #isFlushing = false;
  /** Changes that read before they write. */
  readonly #changes = new SerialQueue();
  #state: State = 'open';
  #rollingBack: Promise<void> | undefined;
  /** Why only a rollback is left. */
  #failure: { readonly error: unknown } | undefined;
  /** The role pending changes were made under; they are sent under it. */
  #writingAs: DatabaseRole | undefined;
  #events: EventDraft[] = [];
  #outside: { readonly name: string; readonly work: (unit: UnitOfWork) => Promise<void> }[] = [];
  readonly #afterCommit = new PostCommitHooks();
  #isFree: boolean;
  #origin: Origin;

  /** @param isFree begins even when the database has no place left, because its place is still taken by the caller */
  constructor(database: Database, context: WorkContext, isFree = false) {
    this.database = database;
    this.context = withCaller(context);
    this.#isFree = isFree;
    this.#origin = context;
    this.data = new DataClient(this, context.caller);
  }

  /** Made when something is to be changed: work that only reads needs none. */
  get em(): EntityManager {
    this.#em ??= this.database.orm.em.fork({ clear: true }) as EntityManager;
    return this.#em;
  }

  get state(): State {
    return this.#state;
  }

  /** Statements sent so far, BEGIN and COMMIT included. */
  get statements(): number {
    return this.#begun?.statements ?? this.#pipelinedMessageCount;
  }

  /** The transaction, begun with the first call. */
  #begin(): Promise<Transaction> {
    this.#refuseUnlessOpen();
    this.#transaction ??= this.#beginTransaction();
    return this.#transaction;
  }

  async #beginTransaction(): Promise<Transaction> {
    if (!this.#isFree) this.#leave = this.database.acquireSlot();
    this.#begun = await Transaction.begin(this.database.pool, this.#settings, this.database.options.observer);
    return this.#begun;
  }

  get #settings(): TransactionSettings {
    const { caller, deadline, readOnly } = this.context;
    return {
      role: this.#homeRole,
      organizationId: caller.organizationId,
      userId: caller.kind === 'user' ? caller.subjectId : null,
      readOnly: readOnly ?? false,
      deadline: deadline ?? Date.now() + this.database.options.defaultTimeoutMs,
      traceparent: () => this.#origin.traceparent,
    };
  }

  /**
   * Reads by one statement that is all there is to this unit of work, and ends it: begin, statement and end travel
   * together. Where something was done before, the unit goes on as ever.
   * @param statement whose values are all text
   * @throws AppError, see `Transaction.query`
   */
  async readInOneStatement(statement: Statement): Promise<readonly (readonly (string | null)[])[]> {
    if (this.#transaction || this.#em || this.#events.length > 0 || this.#homeRole !== 'app') {
      const { rows } = await (await this.readAs(this.#homeRole)).query(statement.text, statement.values);
      return rows.map((row) => Object.values(row) as (string | null)[]);
    }
    this.#refuseUnlessOpen();
    if (!this.#isFree) this.#leave = this.database.acquireSlot();
    failpoint('before-commit');
    this.#pipelinedMessageCount = pipelinedMessages;
    const rows = await this.#committing(() =>
      pipelinedRead(this.database.pool, this.#settings, statement, this.database.options.observer),
    );
    await this.#committed();
    return rows;
  }

  get #homeRole(): DatabaseRole {
    return databaseRoleOf(this.context.caller);
  }

  /** The transaction under the given role, with pending changes sent before, so that a read sees them. */
  async readAs(role: DatabaseRole): Promise<RoleSession> {
    await this.flush();
    return (await this.#begin()).as(role);
  }

  /**
   * Makes changes that are to be sent under this role. Changes pending under the other one are sent first, and while a
   * flush is under way nothing changes: what it sends is what it recorded.
   * @param change at once, without waiting for anything
   */
  async change<T>(role: DatabaseRole, change: () => T): Promise<T> {
    for (;;) {
      if (this.#isFlushing) await this.#flushes.settled();
      else if (this.#writingAs !== undefined && this.#writingAs !== role) await this.flush();
      else break;
    }
    this.#refuseWhenFailed();
    this.#refuseUnlessOpen();
    this.#writingAs = role;
    return change();
  }

  /**
   * Runs work that reads a row in order to change it, one after the other: of two changes of one row in parallel resolvers,
   * the second sees what the first one did.
   */
  serialize<T>(work: () => Promise<T>): Promise<T> {
    return this.#changes.run(work);
  }

  #refuseWhenFailed(): void {
    if (this.#failure) throw this.#failure.error;
  }

  /**
   * Does part of the work on behalf of another request: its changes and events carry that request's id, its statements belong to its trace. For
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

  /** Announces something that is not a plain change of a record (announcements.ts); recorded with the next flush. */
  emit(event: EventDraft): void {
    this.#events.push(event);
  }

  /**
   * Sends pending changes with their history, events and tuples. Parallel calls wait for each other.
   * @throws AppError already_exists, stale_record, still_referenced and whatever the database refuses
   */
  flush(): Promise<void> {
    return this.#flushes.run(() => this.#flush());
  }

  async #flush(): Promise<void> {
    this.#refuseWhenFailed();
    const changes = this.#em ? recordedChanges(this.#em, this.database.options.registry) : [];
    const events = this.#events;
    if (changes.length === 0 && events.length === 0) return;
    this.#events = [];
    this.touched.clear();
    const role = this.#writingAs ?? this.#homeRole;
    this.#writingAs = undefined;
    const modules = changes.map(({ module }) => module);
    await this.#sending(modules, async (transaction) => {
      this.em.setTransactionContext(transaction.as(role));
      await this.em.flush();
      // Between flushes the entity manager reaches nothing.
      this.em.resetTransactionContext();
      this.counters.add(await recordWithCascades(transaction, role, changes, events, this));
    });
  }

  /** Makes changes that pass the entity manager by, with all that follows from them; pending ones are sent before. */
  changeRows(
    role: DatabaseRole,
    module: EntityModule,
    change: (session: RoleSession) => Promise<readonly RecordedChange[]>,
  ): Promise<void> {
    return this.#flushes.run(async () => {
      await this.#flush();
      await this.#sending([module], async (transaction) => {
        const changes = await change(transaction.as(role));
        this.counters.add(await recordWithCascades(transaction, role, changes, [], this));
      });
    });
  }

  /** Sends changes of these kinds; when that fails, only a rollback is left. */
  async #sending(modules: readonly EntityModule[], send: (transaction: Transaction) => Promise<void>): Promise<void> {
    this.#isFlushing = true;
    try {
      await send(await this.#begin());
    } catch (error) {
      this.#failure = { error: translateWriteError(error, modules, this.database.options.registry) };
      throw this.#failure.error;
    } finally {
      this.#isFlushing = false;
    }
  }

  /** Makes the changes durable. On failure the error is thrown, and a rollback is left to do. */
  async commit(): Promise<void> {
    this.#refuseUnlessOpen();
    await this.flush();
    failpoint('before-commit');
    // Meanwhile the client may have gone away.
    this.#refuseUnlessOpen();
    await this.#committing(async () => {
      const transaction = await this.#transaction;
      if (transaction && this.counters.raisedScopes.size > 0)
        await bumpRevisions(transaction.as(this.#homeRole), this.counters.raisedScopes);
      await transaction?.commit();
    });
    await this.#committed();
  }

  async #committing<T>(end: () => Promise<T>): Promise<T> {
    this.#state = 'committing';
    try {
      return await end();
    } catch (error) {
      this.#state = 'open';
      this.#failure = { error: translateWriteError(error, [], this.database.options.registry) };
      throw this.#failure.error;
    }
  }

  async #committed(): Promise<void> {
    failpoint('after-commit');
    this.#end('committed');
    this.#leave?.();
    // Nothing waits for them: neither the answer nor what else follows.
    void this.#afterCommit.run(this.database.options.onBackgroundError);
    const { requestId } = this.context;
    const { pendingEvents, tupleChanges, raisedScopes } = this.counters;
    if (pendingEvents > 0 || tupleChanges > 0)
      await this.database.committed({
        requestId,
        pendingEvents,
        tupleChanges,
        hasChangedRights: raisedScopes.size > 0,
      });
  }

  #refuseUnlessOpen(): void {
    if (this.#state !== 'open')
      throw new Error(`this unit of work is ${this.#state}; its work should have ended before`);
  }

  /**
   * Gives everything up, then records what was to be recorded although the request is refused. Never throws. Once a
   * commit is under way, only its failure leaves something to roll back.
   */
  rollback(): Promise<void> {
    if (this.#state === 'open') {
      this.#state = 'rolling back';
      this.#rollingBack = this.#rollBack();
    }
    return this.#rollingBack ?? Promise.resolve();
  }

  async #rollBack(): Promise<void> {
    // A transaction that could not begin was told to whoever asked for it.
    const transaction = await this.#transaction?.catch(() => undefined);
    try {
      await transaction?.rollback();
    } catch (error) {
      // A transaction whose connection is gone is rolled back by that.
      const isGone = isAppError(error) && error.code === 'database_unavailable';
      if (!isGone) this.database.options.onBackgroundError(error, 'rollback');
    }
    this.#end('rolled back');
    for (const { name, work } of this.#outside) await this.database.recordOutside(name, work, this.context);
    this.#leave?.();
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
    this.#afterCommit.add(hook);
  }

  #end(state: State): void {
    this.#state = state;
    this.#em?.clear();
  }
}

import type { MikroORM } from '@mikro-orm/core';
import type { EntityManager } from '@mikro-orm/postgresql';
import type { QueryResultRow } from 'pg';
import { bumpRevisions } from '../access/authorization-state.ts';
import type { Clock } from '../base/clock.ts';
import { failpoint } from '../base/failpoint.ts';
import { currentTraceparent } from '../base/trace.ts';
import { actorOf, databaseRoleOf, ownerOfRows, type Caller } from '../model/caller.ts';
import type { RecordedChange } from '../model/recorded-changes.ts';
import type { EntityModule } from '../model/define.ts';
import type { Registry } from '../model/registry.ts';
import { withCaller, type CommitSummary, type Origin, type WorkContext } from '../model/work-context.ts';
import type { ReadStatement } from '../read/answer-statements.ts';
import type { PlanCache } from '../read/plan-cache.ts';
import type { OrmSchemas } from '../storage/orm-schema.ts';
import type { Statement } from '../storage/sql.ts';
import type { DatabaseRole, RoleSession, Transaction, TransactionSettings } from '../storage/transaction.ts';
import { ChangeCounters } from '../write/change-counters.ts';
import { recordChanges } from '../write/change-log.ts';
import type { ChangeWork, Stamp } from '../write/change-work.ts';
import type { HeldPart } from '../write/held-changes.ts';
import { makeConsequences } from '../write/consequences.ts';
import type { EventDraft } from '../model/event-draft.ts';
import type { WriteOptions } from '../write/change-work.ts';
import { translateWriteError } from '../write/write-error.ts';
import { ChangeBuffer } from './change-buffer.ts';
import type { AnswerWork, SidecarStatement } from './answer-work.ts';
import { DataClient } from './data-client.ts';
import { FlushQueue } from './flush-queue.ts';
import { LazyTransaction, type TransactionSource } from './lazy-transaction.ts';
import { PostCommitHooks } from './post-commit-hooks.ts';

// Long because the lifecycle of a unit of work is one state machine. Buffering, ordering and the transaction
// itself are in files of their own.

type Row = Record<string, unknown>;
type State = 'open' | 'committing' | 'committed' | 'rolling back' | 'rolled back';

/** The part of a database that a unit of work needs. */
export interface UnitOfWorkHost extends TransactionSource {
  readonly options: WriteOptions;
  readonly orm: MikroORM;
  readonly schemas: OrmSchemas;
  readonly plans: PlanCache;
  /** Called after the COMMIT. */
  committed(summary: CommitSummary): Promise<void>;
  /** Commits further work for a unit of work that was rolled back. */
  recordOutside(name: string, work: (unit: UnitOfWork) => Promise<void>, context: WorkContext): Promise<void>;
}

/**
 * One MikroORM unit of work in one PostgreSQL transaction. The transaction begins with the first statement. `commit` or
 * `rollback` must be called exactly once; both free the connection.
 */
export class UnitOfWork implements AnswerWork, ChangeWork {
  readonly context: WorkContext;
  readonly database: UnitOfWorkHost;
  readonly data: DataClient;
  readonly counters = new ChangeCounters();
  readonly created = new Set<string>();
  readonly held = new Map<string, HeldPart>();
  readonly passing = new Set<string>();
  readonly #buffer: ChangeBuffer;
  readonly #queue = new FlushQueue();
  readonly #afterCommit = new PostCommitHooks();
  /** Work that is committed after a rollback (`recordOutsideRequest`). */
  readonly #outside: { readonly name: string; readonly work: (unit: UnitOfWork) => Promise<void> }[] = [];
  readonly #transaction: LazyTransaction;
  readonly #bypassLimit: boolean;
  #state: State = 'open';
  #rollingBack: Promise<void> | undefined;
  /** The error after which only a rollback is possible. */
  #failure: { readonly error: unknown } | undefined;
  #origin: Origin;
  #actor: string;
  readonly #startedAt = performance.now();

  /** @param bypassLimit waits for a connection however many others wait */
  constructor(database: UnitOfWorkHost, context: WorkContext, bypassLimit = false) {
    this.database = database;
    this.context = withCaller(context);
    this.#origin = context;
    this.#actor = actorOf(context.caller);
    this.#bypassLimit = bypassLimit;
    this.#transaction = new LazyTransaction(database, () => this.#settings);
    this.#buffer = new ChangeBuffer(database.orm, database.schemas, database.options.registry);
    this.data = new DataClient(this, context.caller);
  }

  get options(): WriteOptions {
    return this.database.options;
  }

  get registry(): Registry {
    return this.options.registry;
  }

  get clock(): Clock {
    return this.options.clock;
  }

  get em(): EntityManager {
    return this.#buffer.em;
  }

  get state(): State {
    return this.#state;
  }

  get plans(): PlanCache {
    return this.database.plans;
  }

  get changedTuples(): number {
    return this.counters.tupleChanges;
  }

  /** Statements sent so far, BEGIN and COMMIT included. */
  get statements(): number {
    return this.#transaction.statements;
  }

  /** Returns the transaction; the first call begins it. */
  #begin(): Promise<Transaction> {
    this.#refuseUnlessOpen();
    return this.#transaction.begin();
  }

  get #settings(): TransactionSettings {
    const { caller, deadline, readOnly, precondition } = this.context;
    return {
      role: this.#homeRole,
      organizationId: caller.organizationId,
      userId: ownerOfRows(caller),
      readOnly: readOnly ?? false,
      deadline: deadline ?? Date.now() + this.options.defaultTimeoutMs,
      traceparent: () => this.#traceparent,
      bypassLimit: this.#bypassLimit,
      precondition,
    };
  }

  /** The span that sends the statement, as far as the work belongs to a trace at all. */
  get #traceparent(): string | undefined {
    const own = this.#origin.traceparent;
    return own === undefined ? undefined : (currentTraceparent() ?? own);
  }

  get #homeRole(): DatabaseRole {
    return databaseRoleOf(this.context.caller);
  }

  async readInOneStatement(
    statement: ReadStatement,
    sidecar?: SidecarStatement,
  ): Promise<readonly (readonly (string | null)[])[]> {
    if (this.#transaction.isStarted || !this.#buffer.isUnused || this.#homeRole !== 'app') {
      const session = await this.readAs(this.#homeRole);
      const read = async ({ text, values }: Statement) => (await session.query(text, values)).texts;
      if (sidecar) sidecar.take(await read(sidecar.statement));
      return read(statement);
    }
    this.#refuseUnlessOpen();
    failpoint('before-commit');
    const rows = await this.#committing(() =>
      this.#transaction.readOnce(statement, this.context.caller, this.context.isFresh ?? false, sidecar),
    );
    await this.#committed();
    return rows;
  }

  async changeInOneStatement(
    module: EntityModule,
    statement: Statement,
    count: (rows: readonly (readonly (string | null)[])[]) => void,
  ): Promise<void> {
    if (this.#transaction.isStarted || !this.#buffer.isUnused)
      throw new Error('a change in one statement is the only work of its unit');
    this.#refuseUnlessOpen();
    failpoint('before-commit');
    count(await this.#committing(() => this.#transaction.changeOnce(statement), [module]));
    await this.#committed();
  }

  async readAs(role: DatabaseRole): Promise<RoleSession> {
    await this.flush();
    return (await this.#begin()).as(role);
  }

  async rowsAsSystem<Row extends QueryResultRow>(text: string, values?: readonly unknown[]): Promise<Row[]> {
    return (await (await this.readAs('system')).query<Row>(text, values)).rows;
  }

  async runAsSystem(text: string, values?: readonly unknown[]): Promise<number> {
    return (await (await this.readAs('system')).query(text, values)).rowCount ?? 0;
  }

  insert(role: DatabaseRole, rows: readonly { readonly module: EntityModule; readonly row: Row }[]): Promise<void> {
    return this.#change(role, () => {
      for (const { module, row } of rows) {
        this.created.add(row['id'] as string);
        this.#buffer.insert(module, row);
      }
    });
  }

  update(role: DatabaseRole, module: EntityModule, row: Row, change: { values: Row; stamp: Stamp }): Promise<Row> {
    return this.#change(role, () => this.#buffer.update(module, row, change));
  }

  #change<T>(role: DatabaseRole, change: () => T): Promise<T> {
    return this.#queue.buffer(
      role,
      () => this.flush(),
      () => {
        this.#refuseWhenFailed();
        this.#refuseUnlessOpen();
        return change();
      },
    );
  }

  serialize<T>(work: () => Promise<T>): Promise<T> {
    return this.#queue.serialize(work);
  }

  #refuseWhenFailed(): void {
    if (this.#failure) throw this.#failure.error;
  }

  #refuseUnlessOpen(): void {
    if (this.#state !== 'open')
      throw new Error(`this unit of work is ${this.#state}; its work should have ended before`);
  }

  /**
   * Runs part of the work on behalf of another request: its changes and events are recorded with that request's id, and its
   * statements belong to that request's trace. For listeners, which process events of many requests in one transaction.
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

  get origin(): Origin {
    return this.#origin;
  }

  /**
   * Runs part of the work as another caller: with the rights of that caller, whom history and events name as the actor. For changes that
   * somebody has made and that are written later.
   */
  async actAs<T>(caller: Caller, work: (data: DataClient) => Promise<T>): Promise<T> {
    await this.flush();
    const own = this.#actor;
    this.#actor = actorOf(caller);
    try {
      const result = await work(new DataClient(this, caller));
      await this.flush();
      return result;
    } finally {
      this.#actor = own;
    }
  }

  get actor(): string {
    return this.#actor;
  }

  /** Records a custom event of a kind (custom-events.ts) with the next flush. */
  emit(event: EventDraft): void {
    this.#buffer.emit(event);
  }

  /**
   * Writes buffered changes with their history, events and tuples. Concurrent calls run one after the other.
   * @throws AppError already_exists, stale_record, still_referenced and other errors of `databaseError`
   */
  flush(): Promise<void> {
    return this.#queue.run(() => this.#flush());
  }

  async #flush(): Promise<void> {
    this.#refuseWhenFailed();
    const buffered = this.#buffer.take();
    if (!buffered) return;
    const { changes, events } = buffered;
    const role = this.#queue.takeRole() ?? this.#homeRole;
    const modules = changes.map(({ module }) => module);
    await this.#writeChanges(modules, async (transaction) => {
      const rows = await this.#buffer.write(transaction.as(role));
      // Sent before the answer to the inserts. When one of them failed, everything after it failed as well.
      const [written, recorded] = await Promise.allSettled([
        rows.inserted(),
        this.#record(transaction, role, changes, events),
      ]);
      if (written.status === 'rejected') throw written.reason;
      if (recorded.status === 'rejected') throw recorded.reason;
    });
  }

  /** Ends a part of work that would be too large for one: what was buffered is written and forgotten, and limits count anew. */
  async endPart(): Promise<void> {
    await this.flush();
    this.#buffer.clear();
    this.created.clear();
    this.held.clear();
    this.counters.beginPart();
  }

  changeRows(
    role: DatabaseRole,
    module: EntityModule,
    change: (session: RoleSession) => Promise<readonly RecordedChange[]>,
  ): Promise<void> {
    return this.#queue.run(async () => {
      await this.#flush();
      await this.#writeChanges([module], async (transaction) => {
        const changes = await change(transaction.as(role));
        await this.#record(transaction, role, changes, []);
      });
    });
  }

  /** Records what follows from changes that were made under this role. */
  async #record(
    transaction: Transaction,
    role: DatabaseRole,
    changes: readonly RecordedChange[],
    events: readonly EventDraft[],
  ): Promise<void> {
    await recordChanges(transaction.as(role), changes, events, this);
    await makeConsequences(transaction.as('system'), changes, this);
  }

  /** Writes changes of these kinds. After a failure, only a rollback is possible. */
  #writeChanges(modules: readonly EntityModule[], send: (transaction: Transaction) => Promise<void>): Promise<void> {
    return this.#queue.blockChanges(async () => {
      try {
        await send(await this.#begin());
      } catch (error) {
        throw this.#fail(error, modules);
      }
    });
  }

  #fail(error: unknown, modules: readonly EntityModule[]): unknown {
    this.#failure = { error: translateWriteError(error, modules) };
    return this.#failure.error;
  }

  /** Commits the transaction. When it throws, `rollback` must be called. */
  async commit(): Promise<void> {
    this.#refuseUnlessOpen();
    await this.flush();
    failpoint('before-commit');
    // The client may have disconnected during the flush, which rolls the unit of work back.
    this.#refuseUnlessOpen();
    const { raisedScopes } = this.counters;
    await this.#committing(() =>
      this.#transaction.commit(async (transaction) => {
        if (raisedScopes.size > 0) await bumpRevisions(transaction.as(this.#homeRole), raisedScopes);
      }),
    );
    await this.#committed();
  }

  /** @param modules kinds that are written besides */
  async #committing<T>(end: () => Promise<T>, modules: readonly EntityModule[] = []): Promise<T> {
    this.#state = 'committing';
    try {
      return await end();
    } catch (error) {
      this.#state = 'open';
      throw this.#fail(error, modules);
    }
  }

  async #committed(): Promise<void> {
    failpoint('after-commit');
    this.#end('committed');
    // The answer does not wait for these hooks.
    void this.#afterCommit.run(this.options.onBackgroundError);
    const { requestId } = this.context;
    const { pendingEvents, tupleChanges, objectChanges, feedChanges, raisedScopes } = this.counters;
    this.database.results.noteChanges(this.counters.changedRecords);
    if (pendingEvents > 0 || tupleChanges > 0 || objectChanges > 0 || feedChanges > 0)
      await this.database.committed({
        requestId,
        pendingEvents,
        tupleChanges,
        objectChanges,
        feedChanges,
        hasChangedRights: raisedScopes.size > 0,
      });
  }

  /**
   * Rolls back, then commits the work of `recordOutsideRequest`. Never throws. During or after a commit it does nothing, unless the
   * commit has failed.
   */
  rollback(): Promise<void> {
    if (this.#state === 'open') {
      this.#state = 'rolling back';
      this.#rollingBack = this.#rollBack();
    }
    return this.#rollingBack ?? Promise.resolve();
  }

  /** Rolls back work that is tried again in a new unit of work, which registers its own `recordOutsideRequest`. */
  abandon(): Promise<void> {
    this.#outside.length = 0;
    return this.rollback();
  }

  async #rollBack(): Promise<void> {
    await this.#transaction.rollback();
    this.#end('rolled back');
    for (const { name, work } of this.#outside) await this.database.recordOutside(name, work, this.context);
  }

  /**
   * Registers work that must be committed although the request is rejected (failed sign-ins, audit). It runs in a transaction of its
   * own, after the ROLLBACK and before the answer, so that a request never holds two connections. It does not run after a commit.
   */
  recordOutsideRequest(name: string, work: (unit: UnitOfWork) => Promise<void>): void {
    this.#outside.push({ name, work });
  }

  /** Runs a hook in this process after the commit, best effort. Use an event for work that must not be lost. */
  afterCommit(hook: () => void | Promise<void>): void {
    this.#afterCommit.add(hook);
  }

  #end(state: State): void {
    this.#state = state;
    this.#buffer.clear();
    if (this.statements === 0) return;
    this.options.onUnitEnded?.({
      isCommitted: state === 'committed',
      isReadOnly: this.context.readOnly ?? false,
      durationMs: performance.now() - this.#startedAt,
      traceparent: this.context.traceparent,
    });
  }
}

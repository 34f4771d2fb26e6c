import { Pool, TypeOverrides, types as postgresTypes } from 'pg';
import type { MikroORM } from '@mikro-orm/core';
import { newId } from '../base/ids.ts';
import { systemCaller } from '../model/caller.ts';
import type { UploadFunction } from '../objects/upload-rows.ts';
import type { SingleUse } from '../objects/wanted-object.ts';
import { ConnectionQueue, type ConnectionOwner } from '../storage/connection-queue.ts';
import { createOrm } from '../storage/orm.ts';
import { databaseRoles, schemasOf, type OrmSchemas } from '../storage/orm-schema.ts';
import { PlanCache } from '../read/plan-cache.ts';
import { CrashWatch } from '../storage/crash-watch.ts';
import { changeOutsideTransaction, queryOutsideTransaction } from '../storage/one-round-trip.ts';
import { ResultCache } from './result-cache.ts';
import type { WriteOptions } from '../write/change-work.ts';
import { UnitOfWork, type UnitOfWorkHost } from './unit-of-work.ts';
import type { CommitSummary, WorkContext } from '../model/work-context.ts';

/** After this many uses a connection is replaced by a new one: its server process gives memory back only when it ends. */
const maxConnectionUses = 10_000;

/** How long connections stay open beyond `maxIdleConnections`: the next requests of a burst need no new ones. */
const idleTimeoutMs = 5_000;

/** Days stay texts: as a Date they would be midnight somewhere. */
const valueTypes = new TypeOverrides();
valueTypes.setTypeParser(postgresTypes.builtins.DATE, (text: string) => text);

/** Called after every commit with events or changed tuples. The relay is such a listener. */
type CommitListener = (summary: CommitSummary) => Promise<void> | void;

/** Metadata that databases with the same kinds share. */
interface Metadata {
  readonly orm: MikroORM;
  readonly schemas: OrmSchemas;
  readonly plans: PlanCache;
}

/** The database of one process: a pool, the ORM's metadata and the units of work on them. */
export class Database implements UnitOfWorkHost {
  readonly options: WriteOptions;
  readonly pool: Pool;
  /** Takes connections from the pool. */
  readonly connections: ConnectionQueue;
  readonly orm: MikroORM;
  readonly schemas: OrmSchemas;
  readonly plans: PlanCache;
  readonly results: ResultCache;
  readonly #crashes: CrashWatch;
  #commitListeners: CommitListener[] = [];

  /** The database that has the other pool of `sibling`. */
  readonly #origin: Database | undefined;

  private constructor(options: WriteOptions, metadata: Metadata, origin?: Database) {
    this.options = options;
    this.#origin = origin;
    this.orm = metadata.orm;
    this.schemas = metadata.schemas;
    this.plans = metadata.plans;
    this.results = origin?.results ?? new ResultCache(options.registry, options.resultsTtlMs);
    this.pool = new Pool({
      connectionString: options.url,
      application_name: options.applicationName,
      types: valueTypes,
      max: options.maxConnections,
      min: Math.min(options.maxIdleConnections, options.maxConnections),
      idleTimeoutMillis: idleTimeoutMs,
      connectionTimeoutMillis: options.acquireTimeoutMs,
      maxUses: maxConnectionUses,
      // Statements of a transaction are sent without waiting for the answers to earlier ones, unless they depend on them.
      pipeline: true,
      // Without further settings a connection has the app role and no organization, so row-level security hides all rows.
      options: [
        `-c role=${databaseRoles.app}`,
        `-c lock_timeout=${options.lockTimeoutMs}`,
        `-c idle_in_transaction_session_timeout=${options.idleInTransactionTimeoutMs}`,
        // Many small statements run concurrently: starting parallel workers would cost more than they save.
        '-c max_parallel_workers_per_gather=0',
        // The default is meant for rotating disks. With it the planner prefers scanning the records of all organizations to random
        // reads through the index of one organization.
        '-c random_page_cost=1.1',
        '-c timezone=UTC',
      ].join(' '),
    });
    this.connections = new ConnectionQueue(this.pool, options);
    this.#crashes = new CrashWatch(this.pool);
    this.pool.on('error', (error) => options.onBackgroundError(error, 'idle database connection'));
    // A connection lost while in use emits here too; its current statement reports the error.
    this.pool.on('connect', (client) => client.on('error', () => {}));
  }

  static async open(options: WriteOptions): Promise<Database> {
    const schemas = schemasOf(options.registry);
    const plans = new PlanCache(options.registry, () => options.gates?.isEnabled() ?? false);
    const metadata = { orm: await createOrm(schemas), schemas, plans };
    const database = new Database(options, metadata);
    options.hook?.start((text, values) => database.#queryForHook(text, values));
    return database;
  }

  async #queryForHook<Row extends object>(text: string, values: readonly unknown[]): Promise<readonly Row[]> {
    const context = { caller: systemCaller('database hook'), requestId: `hook-${newId()}` };
    const run = async (unit: UnitOfWork) => (await (await unit.readAs('system')).query(text, values)).rows;
    return (await this.transact(context, run)) as Row[];
  }

  /**
   * The same database with a separate pool, for work for which other units of work wait while they hold their connections. It must be
   * closed separately, and before this one.
   */
  sibling(maxConnections: number): Database {
    const limits = { maxConnections, maxIdleConnections: 0, maxUnitsOfWork: maxConnections };
    return new Database({ ...this.options, ...limits }, this, this);
  }

  /** A unit of work for this caller. It takes a connection with its first statement. */
  unitOfWork(context: WorkContext): UnitOfWork {
    return new UnitOfWork(this, context);
  }

  /** Runs `work` in a new unit of work, which is committed when `work` returns, unless it has done so, and rolled back when it throws. */
  async transact<T>(context: WorkContext, work: (unit: UnitOfWork) => Promise<T>): Promise<T> {
    const unit = this.unitOfWork(context);
    try {
      const result = await work(unit);
      if (unit.state !== 'committed') await unit.commit();
      return result;
    } catch (error) {
      await unit.rollback();
      throw error;
    }
  }

  /** Commits records that must be kept although their request was rejected. However many others wait for a connection, it is not rejected. */
  async recordOutside(
    name: string,
    work: (unit: UnitOfWork) => Promise<void>,
    { requestId, traceparent, request }: WorkContext,
  ): Promise<void> {
    const origin = {
      requestId,
      ...(traceparent ? { traceparent } : {}),
      ...(request ? { request: { ...request, status: null } } : {}),
    };
    const unit = new UnitOfWork(this, { caller: systemCaller(name), ...origin }, true);
    try {
      await work(unit);
      await unit.commit();
    } catch (error) {
      await unit.rollback();
      this.options.onBackgroundError(error, `recording "${name}" outside the request`);
    }
  }

  onCommit(listener: CommitListener): void {
    this.#commitListeners.push(listener);
  }

  /** Resolves when PostgreSQL answers. @throws AppError database_unavailable, database_busy, deadline_exceeded */
  async ping(deadline: number): Promise<void> {
    const owner = { role: 'system', organizationId: null, userId: null, bypassLimit: true } as const;
    // Its statements are no work, so nobody observes them.
    const source = { connections: this.connections, options: {} };
    await queryOutsideTransaction(source, { ...owner, deadline }, { text: 'select 1', values: [] });
  }

  /** While it stays the same, PostgreSQL has not crashed (`CrashWatch`). */
  get generation(): number {
    return this.#crashes.generation;
  }

  /**
   * Calls a function of the database with one JSON document, in a statement outside any transaction. No connection is held afterwards.
   * @returns its result, as PostgreSQL's JSON or its own type
   * @throws AppError database_unavailable, database_busy, deadline_exceeded
   */
  async call<Result>(
    name: UploadFunction,
    document: Readonly<Record<string, unknown>>,
    deadline: number,
    owner: ConnectionOwner,
  ): Promise<Result> {
    const statement = { text: `select ${name}($1) as result`, values: [JSON.stringify(document)] };
    const { rows } = await changeOutsideTransaction<{ readonly result: Result }>(
      this,
      { ...owner, deadline },
      statement,
    );
    return (rows[0] as { readonly result: Result }).result;
  }

  /**
   * Uses a link that is good for one use, in a statement outside any transaction.
   * @returns whether this was its first use
   * @throws AppError database_unavailable, database_busy, deadline_exceeded
   */
  async useLink({ nonce, expiresAt }: SingleUse, deadline: number): Promise<boolean> {
    const { rows } = await changeOutsideTransaction<{ readonly result: boolean }>(
      this,
      { role: 'app', organizationId: null, userId: null, deadline },
      { text: 'select use_link($1, $2) as result', values: [nonce, expiresAt] },
    );
    return rows[0]?.result ?? false;
  }

  /** Called by a unit of work after its COMMIT. Errors of listeners are only reported, because the work for them is in the database. */
  async committed(summary: CommitSummary): Promise<void> {
    await Promise.all(
      this.#commitListeners.map(async (listener) => {
        try {
          await listener(summary);
        } catch (error) {
          this.options.onBackgroundError(error, 'after commit');
        }
      }),
    );
  }

  /** Number of units of work that have a connection or wait for one. */
  get activeUnits(): number {
    return this.connections.active;
  }

  async close(): Promise<void> {
    if (!this.#origin) await Promise.all([this.orm.close(), this.options.hook?.close()]);
    await this.pool.end();
  }
}

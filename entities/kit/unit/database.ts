import { Pool } from 'pg';
import type { MikroORM } from '@mikro-orm/core';
import type { DatabaseOptions } from '../access/database-options.ts';
import { systemCaller } from '../model/caller.ts';
import { AppError } from '../base/errors.ts';
import { createOrm } from '../storage/orm.ts';
import { databaseRoles } from '../storage/orm-schema.ts';
import { schemasOf, type OrmSchemas } from '../storage/orm-schema.ts';
import { PlanCache } from '../read/plan-cache.ts';
import { queryOutsideTransaction } from '../storage/transaction.ts';
import { UnitOfWork, type UnitOfWorkHost } from './unit-of-work.ts';
import type { CommitSummary, WorkContext } from '../model/work-context.ts';

/** What runs after every commit that left events or tuples behind; the relay registers here. */
export type CommitListener = (summary: CommitSummary) => Promise<void> | void;

/** What databases with the same kinds share. */
interface Metadata {
  readonly orm: MikroORM;
  readonly schemas: OrmSchemas;
  readonly plans: PlanCache;
}

/** The database of one process: a pool, the ORM's metadata and the units of work on them. */
export class Database implements UnitOfWorkHost {
  readonly options: DatabaseOptions;
  readonly pool: Pool;
  readonly orm: MikroORM;
  readonly schemas: OrmSchemas;
  readonly plans: PlanCache;
  #commitListeners: CommitListener[] = [];
  #active = 0;

  readonly #ownsOrm: boolean;

  private constructor(options: DatabaseOptions, metadata: Metadata, ownsOrm = true) {
    this.options = options;
    this.orm = metadata.orm;
    this.schemas = metadata.schemas;
    this.plans = metadata.plans;
    this.#ownsOrm = ownsOrm;
    this.pool = new Pool({
      connectionString: options.url,
      application_name: options.applicationName,
      max: options.maxConnections,
      min: Math.min(options.maxIdleConnections, options.maxConnections),
      idleTimeoutMillis: 30_000,
      connectionTimeoutMillis: options.acquireTimeoutMs,
      // Statements of one transaction travel without waiting for each other's answers where nothing depends on them.
      pipeline: true,
      // A connection that forgot to say who it works for is the app role without an organization: it sees nothing.
      options: [
        `-c role=${databaseRoles.app}`,
        `-c lock_timeout=${options.lockTimeoutMs}`,
        `-c idle_in_transaction_session_timeout=${options.idleInTransactionTimeoutMs}`,
        // Statements read little and there are many of them at once: workers of their own would cost more than they do.
        '-c max_parallel_workers_per_gather=0',
        // Where rows lie is of no matter in memory and little on today's disks. With the default, made for disks that turn, the
        // planner goes through the records of other organizations rather than through the index of this one.
        '-c random_page_cost=1.1',
        '-c timezone=UTC',
      ].join(' '),
    });
    this.pool.on('error', (error) => options.onBackgroundError(error, 'idle database connection'));
    // A connection lost while it is checked out also emits here; the statement in flight reports it.
    this.pool.on('connect', (client) => client.on('error', () => {}));
  }

  static async open(options: DatabaseOptions): Promise<Database> {
    const schemas = schemasOf(options.registry);
    return new Database(options, { orm: await createOrm(schemas), schemas, plans: new PlanCache(options.registry) });
  }

  /**
   * The same database with connections of its own, for work that others wait for while they hold theirs. It is closed by
   * itself, and before this one.
   */
  sibling(maxConnections: number): Database {
    const limits = { maxConnections, maxIdleConnections: 0, maxUnitsOfWork: maxConnections };
    return new Database({ ...this.options, ...limits }, this, false);
  }

  /** A unit of work for this caller. Nothing is taken before its first statement. */
  unitOfWork(context: WorkContext): UnitOfWork {
    return new UnitOfWork(this, context);
  }

  /**
   * Takes a place for work that begins its transaction.
   * @returns gives the place back; must be called once
   * @throws AppError database_busy when `maxUnitsOfWork` are taken
   */
  acquireSlot(): () => void {
    if (this.#active >= this.options.maxUnitsOfWork) {
      throw new AppError('database_busy', `${this.#active} requests are under way already; try again in a moment.`, {
        details: { retryAfterSeconds: 1 },
      });
    }
    this.#active++;
    return () => {
      this.#active--;
    };
  }

  /** Runs `work` in a unit of work of its own: committed when it returns, rolled back when it throws. */
  async transact<T>(context: WorkContext, work: (unit: UnitOfWork) => Promise<T>): Promise<T> {
    const unit = this.unitOfWork(context);
    try {
      const result = await work(unit);
      await unit.commit();
      return result;
    } catch (error) {
      await unit.rollback();
      throw error;
    }
  }

  /** Records what must stay although the request it belongs to is refused; in the place of its unit, so that a busy server does too. */
  async recordOutside(
    name: string,
    work: (unit: UnitOfWork) => Promise<void>,
    { requestId, traceparent }: WorkContext,
  ): Promise<void> {
    const origin = { requestId, ...(traceparent ? { traceparent } : {}) };
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
    await queryOutsideTransaction(this.pool, { text: 'select 1' }, deadline);
  }

  /** Called by a unit of work after its COMMIT. A failing listener is reported; its work is safe in rows. */
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

  /** Units of work that have, or wait for, a connection. */
  get activeUnits(): number {
    return this.#active;
  }

  async close(): Promise<void> {
    if (this.#ownsOrm) await this.orm.close();
    await this.pool.end();
  }
}

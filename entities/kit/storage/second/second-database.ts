import { Pool, type PoolClient } from 'pg';
import { AppError } from '../../base/errors.ts';
import { failpoint } from '../../base/failpoint.ts';
import { destroyAfter } from '../connection.ts';
import { databaseError } from '../database-error.ts';

/** How long a new connection to the second database may take, in milliseconds. */
const connectTimeoutMs = 3_000;

/** How long the end of a prepared transaction may take, in milliseconds; it waits for nobody. */
const endTimeoutMs = 5_000;

/** Changes of a transaction, and the name under which it is prepared in the second database. */
export interface RowImages {
  readonly gid: string;
  /** JSON of `take_row_images`; not parsed here, where large numbers would lose digits. */
  readonly images: string;
}

export interface SecondDatabaseOptions {
  /** PostgreSQL connection URI (`db.secondarydbsource`). */
  readonly url: string;
  readonly applicationName: string;
  readonly maxConnections: number;
  readonly maxIdleConnections: number;
  readonly lockTimeoutMs: number;
  readonly onBackgroundError: (error: unknown, doing: string) => void;
}

/** SQLSTATE of a prepared transaction that is no longer there, or that somebody else is ending: another process was faster. */
const endedElsewhere = new Set(['42704', '55000']);

/** Prepared names: `core_<installation>_<transaction id>`. They are inlined, because PREPARE TRANSACTION takes no parameters. */
const gidPattern = /^core_[0-9a-zA-Z-]+_(\d+)$/;

/**
 * The second database of `db.multiwrite` (docs/decisions/two-databases.md). Its transactions are prepared before those of the primary
 * database commit, and committed afterwards. Triggers do not fire in it: what they did is among the row images.
 */
export class SecondDatabase {
  readonly #pool: Pool;
  readonly #options: SecondDatabaseOptions;

  constructor(options: SecondDatabaseOptions) {
    this.#options = options;
    this.#pool = new Pool({
      connectionString: options.url,
      application_name: options.applicationName,
      max: options.maxConnections,
      min: Math.min(options.maxIdleConnections, options.maxConnections),
      connectionTimeoutMillis: connectTimeoutMs,
      pipeline: true,
      options: [
        '-c session_replication_role=replica',
        `-c lock_timeout=${options.lockTimeoutMs}`,
        '-c search_path=public',
        '-c timezone=UTC',
      ].join(' '),
    });
    this.#pool.on('error', (error) => options.onBackgroundError(error, 'idle connection to the second database'));
    this.#pool.on('connect', (client) => client.on('error', () => {}));
  }

  /**
   * Makes the changes and prepares them: from then on, they can be committed whatever happens to this process or to either server.
   * @param deadline in milliseconds since the epoch
   * @returns commits them; never throws, because the primary database has committed by then: what fails here is left to the sweep
   * @throws AppError database_unavailable; the transaction of the primary database has to be rolled back then
   */
  async prepare({ gid, images }: RowImages, deadline: number): Promise<() => Promise<void>> {
    if (!gidPattern.test(gid)) throw new TypeError(`"${gid}" is not the name of a prepared transaction`);
    try {
      await this.#use(deadline, async (client) => {
        const timeoutMs = Math.max(1, Math.ceil(deadline - Date.now()));
        // When one of them fails, PostgreSQL turns PREPARE TRANSACTION into a rollback.
        const [begun, applied, prepared] = await Promise.allSettled([
          client.query(`begin; set local statement_timeout = ${timeoutMs}`),
          client.query('select apply_row_images($1)', [images]),
          client.query(`prepare transaction '${gid}'`),
        ]);
        for (const each of [begun, applied, prepared]) if (each.status === 'rejected') throw each.reason;
      });
    } catch (error) {
      throw this.#refusal(error);
    }
    failpoint('commit-prepared');
    return async () => {
      failpoint('commit-decided');
      await this.end(gid, 'commit').catch((error: unknown) =>
        this.#options.onBackgroundError(error, 'committing in the second database; the sweep tries again'),
      );
    };
  }

  /** Ends a prepared transaction, unless somebody else did. */
  async end(gid: string, outcome: 'commit' | 'rollback'): Promise<void> {
    if (!gidPattern.test(gid)) throw new TypeError(`"${gid}" is not the name of a prepared transaction`);
    try {
      await this.#use(Date.now() + endTimeoutMs, (client) => client.query(`${outcome} prepared '${gid}'`));
    } catch (error) {
      if (!endedElsewhere.has((error as { code?: string }).code ?? '')) throw error;
    }
  }

  /** Ids of the primary database's transactions that are prepared here, by name. @param installation id of the installation */
  async prepared(installation: string): Promise<ReadonlyMap<string, string>> {
    const { rows } = await this.query<{ gid: string }>(
      'select gid from pg_prepared_xacts where database = current_database() and starts_with(gid, $1) order by prepared',
      [`core_${installation}_`],
    );
    return new Map(rows.map(({ gid }) => [gid, gidPattern.exec(gid)?.[1] ?? '']));
  }

  /** Resolves when the second database answers. @param deadline in milliseconds since the epoch */
  async ping(deadline: number): Promise<void> {
    await this.query('select 1', [], deadline);
  }

  /** One statement, outside any transaction. */
  query<Row extends object>(text: string, values: readonly unknown[] = [], deadline = Date.now() + endTimeoutMs) {
    return this.#use(deadline, (client) => client.query<Row & Record<string, unknown>>(text, [...values]));
  }

  async close(): Promise<void> {
    await this.#pool.end();
  }

  async #use<T>(deadline: number, work: (client: PoolClient) => Promise<T>): Promise<T> {
    const client = await this.#pool.connect();
    const limit = destroyAfter(client, deadline);
    try {
      const result = await work(client);
      client.release();
      return result;
    } catch (error) {
      client.release(true);
      throw error;
    } finally {
      limit.cancel();
    }
  }

  /** Changes are made in both databases or in none, so a second database that cannot take them refuses them. */
  #refusal(cause: unknown): AppError {
    const isExpected = databaseError(cause) !== cause;
    // Otherwise somebody has to look: the databases may differ.
    if (!isExpected) this.#options.onBackgroundError(cause, 'preparing changes in the second database');
    return new AppError(
      'database_unavailable',
      'The second database cannot take the changes, so nothing was changed; try again in a moment.',
      { details: { retryAfterSeconds: 1 }, cause },
    );
  }
}

import type { Logger } from 'pino';
import type { ComparisonSettings, DatabaseHook, QueryDatabase } from '../database-hook.ts';
import type { Statement } from '../sql.ts';
import { compareDatabases } from './compare-databases.ts';
import { SecondDatabase, type RowImages, type SecondDatabaseOptions } from './second-database.ts';
import { settleRegularly } from './settle-prepared.ts';

interface HookOptions extends SecondDatabaseOptions {
  /** Of the primary database. */
  readonly primaryUrl: string;
  readonly logger: Pick<Logger, 'info' | 'warn' | 'error'>;
}

/** Writes all changes of the database to a second one as well (`db.multiwrite`, docs/decisions/two-databases.md). */
export class SecondDatabaseHook implements DatabaseHook {
  readonly checks = { db_secondary: (deadline: number) => this.#second.ping(deadline) };
  readonly #second: SecondDatabase;
  readonly #options: HookOptions;
  #stopSettling = () => {};

  constructor(options: HookOptions) {
    this.#options = options;
    this.#second = new SecondDatabase(options);
  }

  start(query: QueryDatabase): void {
    this.#stopSettling = settleRegularly(query, this.#second, this.#options.logger);
  }

  async beforeCommit(query: QueryDatabase, deadline: number): Promise<(() => Promise<void>) | undefined> {
    const [images] = await query<RowImages>('select gid, images from take_row_images()', []);
    return images && this.#second.prepare(images, deadline);
  }

  async maintain({ text, values }: Statement): Promise<void> {
    await this.#second.query(text, values);
  }

  compare(settings: ComparisonSettings): Promise<string[]> {
    const { primaryUrl, url, applicationName } = this.#options;
    return compareDatabases({ url: primaryUrl, secondUrl: url, applicationName }, settings);
  }

  async close(): Promise<void> {
    this.#stopSettling();
    await this.#second.close();
  }
}

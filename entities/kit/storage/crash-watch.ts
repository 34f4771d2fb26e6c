import type { Pool } from 'pg';

/** Notices when PostgreSQL may have crashed, which ends all connections: ids of transactions that were not on disk are given out again. */
export class CrashWatch {
  /** Open connections, those included that are just being closed. */
  #open = 0;
  #generation = 0;

  constructor(pool: Pool) {
    pool.on('connect', (client) => {
      this.#open++;
      client.on('error', () => {
        this.#generation++;
      });
      client.once('end', () => {
        this.#open--;
        if (this.#open === 0) this.#generation++;
      });
    });
  }

  /** Rises when a connection ends with an error, and when no connection is left. While it stays the same, PostgreSQL has not crashed. */
  get generation(): number {
    return this.#generation;
  }
}

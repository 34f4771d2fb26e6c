import { SerialQueue } from '../base/concurrency/serial-queue.ts';
import type { DatabaseRole } from '../storage/transaction.ts';

/**
 * Orders concurrent work in one unit of work: changes are buffered for one database role at a time, flushes run one after the other,
 * and nothing is buffered during a flush, so that a flush writes exactly the changes that it records.
 */
export class FlushQueue {
  readonly #flushes = new SerialQueue();
  /** Queue of changes that read a row before they write it. */
  readonly #changes = new SerialQueue();
  #isFlushing = false;
  /** The database role of the buffered changes. */
  #role: DatabaseRole | undefined;

  /** Runs work that reads rows in order to change them, one after the other. */
  serialize<T>(work: () => Promise<T>): Promise<T> {
    return this.#changes.run(work);
  }

  /** Runs a flush after those that were queued before. */
  run<T>(flush: () => Promise<T>): Promise<T> {
    return this.#flushes.run(flush);
  }

  /**
   * Buffers changes for this role.
   * @param flush writes the changes that were buffered for the other role
   * @param change runs when no flush is in progress; synchronous, so that no flush can begin during it
   */
  async buffer<T>(role: DatabaseRole, flush: () => Promise<void>, change: () => T): Promise<T> {
    for (;;) {
      if (this.#isFlushing) await this.#flushes.settled();
      else if (this.#role !== undefined && this.#role !== role) await flush();
      else break;
    }
    const result = change();
    this.#role = role;
    return result;
  }

  /** Returns the role of the buffered changes and resets it, because they are written now. */
  takeRole(): DatabaseRole | undefined {
    const role = this.#role;
    this.#role = undefined;
    return role;
  }

  /** Runs statements, and delays buffering of changes until they have ended. */
  async blockChanges<T>(send: () => Promise<T>): Promise<T> {
    this.#isFlushing = true;
    try {
      return await send();
    } finally {
      this.#isFlushing = false;
    }
  }
}

import { SerialQueue } from '../base/serial-queue.ts';
import type { DatabaseRole } from '../storage/transaction.ts';

/**
 * Orders what parallel work in one unit of work does: changes are buffered under one database role at a time, flushes run one after
 * the other, and while one runs nothing is buffered, so that it writes exactly what it records.
 */
export class FlushQueue {
  readonly #flushes = new SerialQueue();
  /** Changes that read a row before they write it. */
  readonly #changes = new SerialQueue();
  #isFlushing = false;
  /** The role that buffered changes were made under, and will be written under. */
  #role: DatabaseRole | undefined;

  /** Runs work that reads a row in order to change it, one at a time. */
  serialize<T>(work: () => Promise<T>): Promise<T> {
    return this.#changes.run(work);
  }

  /** Runs a flush after those that were asked for before. */
  run<T>(flush: () => Promise<T>): Promise<T> {
    return this.#flushes.run(flush);
  }

  /**
   * Buffers changes under this role.
   * @param flush writes what was buffered under the other role
   * @param change runs as soon as nothing is being flushed; synchronous, so that no flush begins meanwhile
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

  /** The role of the buffered changes, which are written now. */
  takeRole(): DatabaseRole | undefined {
    const role = this.#role;
    this.#role = undefined;
    return role;
  }

  /** Holds changes back while these statements run. */
  async holding<T>(send: () => Promise<T>): Promise<T> {
    this.#isFlushing = true;
    try {
      return await send();
    } finally {
      this.#isFlushing = false;
    }
  }
}

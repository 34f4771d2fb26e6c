import type { Redis } from 'ioredis';
import { withTimeout } from '#entities/kit/base/with-timeout.ts';

/** Longest time a request waits for the cache, in milliseconds. */
const timeoutMs = 250;

/** Time in which a cache that did not answer is not asked again, in milliseconds. */
const pauseMs = 5_000;

/** A cache connection that never holds a request up: while the server is unreachable or slow, it is not asked. */
export class GuardedCache {
  readonly #connection: Redis;
  #askAgainAt = 0;

  constructor(connection: Redis) {
    this.#connection = connection;
  }

  /** @returns `otherwise` while the cache does not answer */
  async ask<T>(command: (connection: Redis) => Promise<T>, otherwise: T): Promise<T> {
    const connection = this.#connection;
    // A lazy connection has to be opened once; afterwards the client reconnects by itself.
    if (connection.status === 'wait') connection.connect().catch(() => {});
    if (connection.status !== 'ready' || performance.now() < this.#askAgainAt) return otherwise;
    try {
      return await withTimeout(command(connection), timeoutMs, () => {
        throw new Error('the cache is slow');
      });
    } catch {
      this.#askAgainAt = performance.now() + pauseMs;
      return otherwise;
    }
  }
}

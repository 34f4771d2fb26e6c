import type { Redis } from 'ioredis';
import { withTimeout } from '#entities/kit/base/with-timeout.ts';
import type { CachePool } from './cache-pool.ts';

/** Longest time a request waits for the cache, in milliseconds. */
const timeoutMs = 250;

/** Time in which a cache that did not answer is not asked again, in milliseconds. */
const pauseMs = 5_000;

/** A cache that never holds a request up: while the server is unreachable or slow, it is not asked. */
export class GuardedCache {
  readonly #pool: CachePool;
  #askAgainAt = 0;

  constructor(pool: CachePool) {
    this.#pool = pool;
  }

  /** @returns `otherwise` while the cache does not answer */
  async ask<T>(command: (connection: Redis) => Promise<T>, otherwise: T): Promise<T> {
    if (performance.now() < this.#askAgainAt) return otherwise;
    const answer = this.#pool.useReady(command);
    if (!answer) return otherwise;
    try {
      return await withTimeout(answer, timeoutMs, () => {
        throw new Error('the cache is slow');
      });
    } catch {
      this.#askAgainAt = performance.now() + pauseMs;
      return otherwise;
    }
  }
}

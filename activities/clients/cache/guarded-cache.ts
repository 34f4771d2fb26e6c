import type { Redis } from 'ioredis';
import { inSpan } from '#entities/kit/base/trace.ts';
import { withTimeout } from '#entities/kit/base/concurrency/with-timeout.ts';
import type { CachePool } from './cache-pool.ts';

/** Longest time a request waits for the cache, in milliseconds. */
const timeoutMs = 250;

/** Time in which a cache that did not answer is not asked again, in milliseconds. */
const pauseMs = 5_000;

export interface CacheQuestion {
  readonly about: string;
  /** skipped: the cache was not asked, because no connection is ready or it did not answer a moment ago. */
  readonly outcome: 'answered' | 'failed' | 'skipped';
  readonly durationMs: number;
}

/** A cache that never holds a request up: while the server is unreachable or slow, it is not asked. */
export class GuardedCache {
  readonly #pool: CachePool;
  readonly #onEnd: (question: CacheQuestion) => void;
  #askAgainAt = 0;

  /** @param onEnd called after every question */
  constructor(pool: CachePool, onEnd: (question: CacheQuestion) => void = () => {}) {
    this.#pool = pool;
    this.#onEnd = onEnd;
  }

  /** @param about one of a few constant names, for metrics and traces @returns `otherwise` while the cache does not answer */
  async ask<T>(command: (connection: Redis) => Promise<T>, otherwise: T, about = 'other'): Promise<T> {
    const startedAt = performance.now();
    const ended = (outcome: CacheQuestion['outcome']) =>
      this.#onEnd({ about, outcome, durationMs: performance.now() - startedAt });
    if (startedAt < this.#askAgainAt) {
      ended('skipped');
      return otherwise;
    }
    return inSpan(`cache ${about}`, { 'db.system.name': 'redis' }, async () => {
      const answer = this.#pool.useReady(command);
      if (!answer) {
        ended('skipped');
        return otherwise;
      }
      try {
        const value = await withTimeout(answer, timeoutMs, () => {
          throw new Error('the cache is slow');
        });
        ended('answered');
        return value;
      } catch {
        ended('failed');
        this.#askAgainAt = performance.now() + pauseMs;
        return otherwise;
      }
    });
  }
}

import type { Config } from '#config/objects/root.ts';
import { CachePool } from './cache-pool.ts';

/** Ids of sessions that have ended, in a cache that other services read (`auth.token.cache`). This server does not read it. */
export class EndedSessions {
  readonly #pool: CachePool;
  readonly #prefix: string;
  readonly #isShared: boolean;

  private constructor(pool: CachePool, prefix: string, isShared: boolean) {
    this.#pool = pool;
    this.#prefix = prefix;
    this.#isShared = isShared;
  }

  /**
   * Connects with the first session that ends.
   * @param shared the connections of `cache`, if it is on
   * @returns undefined while `auth.token.cache.enabled` is off
   */
  static of(
    { auth }: Config,
    shared: CachePool | undefined,
    onError: (error: unknown) => void,
  ): EndedSessions | undefined {
    const { enabled, config, blacklistprefix } = auth.token.cache;
    if (!enabled) return undefined;
    if (config.enabled) return new EndedSessions(new CachePool(config, onError), blacklistprefix, false);
    return shared && new EndedSessions(shared, blacklistprefix, true);
  }

  /** @param remainingMs until no token of the session can be valid any more */
  async add(sessionId: string, remainingMs: number): Promise<void> {
    await this.#pool.use((connection) => connection.set(this.#prefix + sessionId, '1', 'PX', remainingMs));
  }

  close(): void {
    if (!this.#isShared) this.#pool.close();
  }
}

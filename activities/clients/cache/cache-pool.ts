import type { Redis } from 'ioredis';
import type { Config } from '#config/objects/root.ts';
import { cacheConnection } from './redis-connection.ts';

/** Operations on the cache that one process needs. */
type Command<T> = (connection: Redis) => Promise<T>;

/**
 * The connections of one process to a cache. A command takes an idle connection, else a new one below the maximum, else it shares the one
 * with the fewest commands under way: Redis answers the commands of a connection in their order, so nothing waits in a line of its own
 * (docs/decisions/cache-connections.md). Connects with the first command.
 */
export class CachePool {
  readonly #config: Config['cache'];
  readonly #onError: (error: unknown) => void;
  /** Connections with the number of their commands under way. */
  readonly #commands = new Map<Redis, number>();
  #isClosed = false;

  constructor(config: Config['cache'], onError: (error: unknown) => void) {
    this.#config = config;
    this.#onError = onError;
  }

  async use<T>(command: Command<T>): Promise<T> {
    return this.#run(this.#take(), command);
  }

  /** @returns undefined, at once, while no connection is ready */
  useReady<T>(command: Command<T>): Promise<T> | undefined {
    if (this.#isClosed) return undefined;
    const connection = this.#take();
    return connection.status === 'ready' ? this.#run(connection, command) : undefined;
  }

  get connections(): { readonly open: number; readonly ready: number } {
    const all = [...this.#commands.keys()];
    return { open: all.length, ready: all.filter(({ status }) => status === 'ready').length };
  }

  close(): void {
    this.#isClosed = true;
    for (const connection of this.#commands.keys()) connection.disconnect();
  }

  get #max(): number {
    return Math.max(this.#config.maxactiveconns, 1);
  }

  get #maxIdle(): number {
    return this.#config.maxidleconns || this.#max;
  }

  /** The connection for a command: a ready one if there is any. @throws Error once the pool is closed */
  #take(): Redis {
    if (this.#isClosed) throw new Error('The connections to the cache are closed.');
    const wanted = Math.max(Math.min(this.#config.minidleconns, this.#maxIdle), 1);
    while (this.#idle().length < wanted && this.#commands.size < this.#max) this.#open();
    const byLoad = [...this.#commands].toSorted(([, one], [, other]) => one - other).map(([connection]) => connection);
    const chosen = byLoad.find(({ status }) => status === 'ready') ?? byLoad[0];
    if (!chosen) throw new Error('a pool has at least one connection');
    return chosen;
  }

  #open(): void {
    const connection = cacheConnection(this.#config, this.#onError);
    this.#commands.set(connection, 0);
    // Commands that wait for the connection are notified; otherwise it connects again by itself.
    connection.connect().catch(() => {});
  }

  async #run<T>(connection: Redis, command: Command<T>): Promise<T> {
    this.#commands.set(connection, (this.#commands.get(connection) ?? 0) + 1);
    try {
      return await command(connection);
    } finally {
      const left = (this.#commands.get(connection) ?? 1) - 1;
      this.#commands.set(connection, left);
      if (left === 0) this.#closeSurplus();
    }
  }

  /** Closes an idle connection if there are more than may be: one that is not ready, else the one that was opened last. */
  #closeSurplus(): void {
    const idle = this.#idle();
    const surplus = idle.find(({ status }) => status !== 'ready') ?? idle.at(-1);
    if (idle.length <= this.#maxIdle || !surplus) return;
    this.#commands.delete(surplus);
    surplus.disconnect();
  }

  #idle(): Redis[] {
    return [...this.#commands].filter(([, count]) => count === 0).map(([connection]) => connection);
  }
}

import type { Pool, PoolClient } from 'pg';
import { databaseError } from './database-error.ts';
import { AppError, deadlineExceeded } from '../base/errors.ts';
import { withTimeout } from '../base/concurrency/with-timeout.ts';

/** Largest part of the connections that one organization, and one person, may hold. */
const organizationShare = 0.75;
const personShare = 0.5;

/**
 * How long a request waits for one of the connections that are open, in milliseconds. A new one takes longer until it answers, and costs
 * PostgreSQL as much as hundreds of short transactions, because its server process has read and planned nothing yet.
 */
const openAfterMs = 20;

/** On whose behalf a connection is taken. */
export interface ConnectionOwner {
  readonly role: 'app' | 'system';
  readonly organizationId: string | null;
  readonly userId: string | null;
  /** Waits however many others wait: for health checks, and for work that must be recorded although its request was rejected. */
  readonly bypassLimit?: boolean;
}

interface ConnectionLimits {
  readonly maxConnections: number;
  /** Connections that may be held or waited for at the same time (`ormconfig.maxpoolsize`). */
  readonly maxUnitsOfWork: number;
  /** Connections that stay open when idle, so that they are opened at once. Further ones are opened for those who have waited. */
  readonly maxIdleConnections: number;
  readonly acquireTimeoutMs: number;
}

interface Waiter {
  readonly owner: ConnectionOwner;
  /** It has waited so long that a connection may be opened for it. */
  isDue: boolean;
  readonly resolve: (end: () => void) => void;
  readonly reject: (error: AppError) => void;
}

/**
 * Shares the connections of a pool fairly. Organizations take turns, whatever the number of their requests, and hold at most three
 * quarters of the connections; one person holds at most half of them. When too many wait, those are rejected who wait behind most
 * others of their own organization. A burst of short transactions is served by the connections that are open.
 */
export class ConnectionQueue {
  readonly #pool: Pool;
  readonly #limits: ConnectionLimits;
  #held = 0;
  #waiting = 0;
  /** Connections held by id of an organization or person. */
  readonly #heldBy = new Map<string, number>();
  /** Waiting requests, by organization. The first organization has the next turn. */
  readonly #queues = new Map<string, Waiter[]>();
  readonly #ends = new WeakMap<PoolClient, () => void>();

  constructor(pool: Pool, limits: ConnectionLimits) {
    this.#pool = pool;
    this.#limits = limits;
    pool.on('release', (_error, client) => {
      this.#ends.get(client)?.();
      this.#ends.delete(client);
    });
  }

  /** Number of connections that are held or waited for. */
  get active(): number {
    return this.#held + this.#waiting;
  }

  /** Number of those who wait for a connection. */
  get waiting(): number {
    return this.#waiting;
  }

  /**
   * Takes a connection when it is this owner's turn. One that the pool provides after the deadline is released at once.
   * @param deadline in milliseconds since the epoch
   * @throws AppError database_busy, database_unavailable, deadline_exceeded
   */
  async connect(owner: ConnectionOwner, deadline: number): Promise<PoolClient> {
    const isFree = this.#waiting === 0 && this.#hasOpen && this.#mayHold(owner);
    const end = isFree ? this.#hold(owner) : await this.#turn(owner, deadline);
    const connecting = this.#pool.connect();
    connecting.then((client) => this.#ends.set(client, end), end);
    try {
      return await withTimeout(connecting, deadline - Date.now(), () => {
        throw deadlineExceeded();
      });
    } catch (error) {
      connecting.then(
        (client) => client.release(),
        () => {},
      );
      throw databaseError(error);
    }
  }

  async #turn(owner: ConnectionOwner, deadline: number): Promise<() => void> {
    if (!owner.bypassLimit && this.active >= this.#limits.maxUnitsOfWork && !this.#makeRoom(owner))
      throw tooMany(this.active);
    const { promise, resolve, reject } = Promise.withResolvers<() => void>();
    const waiter: Waiter = { owner, isDue: false, resolve, reject };
    const key = queueOf(owner);
    const queue = this.#queues.get(key) ?? [];
    queue.push(waiter);
    this.#queues.set(key, queue);
    this.#waiting++;
    this.#serve();
    const leftMs = deadline - Date.now();
    const opening = setTimeout(() => {
      // Answers that have arrived while the process was busy are read first: they may free a connection.
      setImmediate(() => {
        waiter.isDue = true;
        this.#serve();
      });
    }, openAfterMs);
    return withTimeout(promise, Math.min(leftMs, this.#limits.acquireTimeoutMs), () => {
      this.#remove(waiter);
      throw leftMs <= this.#limits.acquireTimeoutMs ? deadlineExceeded() : tooMany(this.active);
    }).finally(() => clearTimeout(opening));
  }

  /** Rejects the last one of the longest queue, unless the queue of this owner would then be as long. */
  #makeRoom(owner: ConnectionOwner): boolean {
    const own = this.#queues.get(queueOf(owner))?.length ?? 0;
    const [longest = []] = [...this.#queues.values()].toSorted((one, other) => other.length - one.length);
    const last = longest.findLast((waiter) => !waiter.owner.bypassLimit);
    if (!last || longest.length <= own + 1) return false;
    this.#remove(last);
    last.reject(tooMany(this.active));
    return true;
  }

  #remove(waiter: Waiter): void {
    const key = queueOf(waiter.owner);
    const queue = this.#queues.get(key);
    const index = queue?.indexOf(waiter) ?? -1;
    if (!queue || index < 0) return;
    queue.splice(index, 1);
    this.#waiting--;
    if (queue.length === 0) this.#queues.delete(key);
  }

  /** Gives free connections to those who wait, one organization after the other. */
  #serve(): void {
    for (let waiter = this.#next(); waiter; waiter = this.#next()) {
      const key = queueOf(waiter.owner);
      const queue = this.#queues.get(key);
      this.#remove(waiter);
      // Its next turn comes after those of all others.
      if (queue && this.#queues.delete(key)) this.#queues.set(key, queue);
      waiter.resolve(this.#hold(waiter.owner));
    }
  }

  #next(): Waiter | undefined {
    if (this.#held >= this.#limits.maxConnections) return undefined;
    const hasOpen = this.#hasOpen;
    for (const queue of this.#queues.values()) {
      const waiter = queue.find(({ owner, isDue }) => (hasOpen || isDue) && this.#mayHold(owner));
      if (waiter) return waiter;
    }
    return undefined;
  }

  /** A connection is open and free, or so few are open that another one stays. */
  get #hasOpen(): boolean {
    return this.#held < Math.max(1, this.#limits.maxIdleConnections, this.#pool.totalCount);
  }

  #mayHold({ role, organizationId, userId }: ConnectionOwner): boolean {
    const { maxConnections, maxUnitsOfWork } = this.#limits;
    if (this.#held >= Math.min(maxConnections, maxUnitsOfWork)) return false;
    const isBelow = (id: string | null, share: number) =>
      id === null || (this.#heldBy.get(id) ?? 0) < Math.max(1, Math.floor(maxConnections * share));
    return role === 'system' || (isBelow(organizationId, organizationShare) && isBelow(userId, personShare));
  }

  /** @returns ends it; must be called exactly once */
  #hold({ organizationId, userId }: ConnectionOwner): () => void {
    const ids = [organizationId, userId].filter((id) => id !== null);
    this.#held++;
    for (const id of ids) this.#heldBy.set(id, (this.#heldBy.get(id) ?? 0) + 1);
    return () => {
      this.#held--;
      for (const id of ids) {
        const left = (this.#heldBy.get(id) ?? 1) - 1;
        if (left > 0) this.#heldBy.set(id, left);
        else this.#heldBy.delete(id);
      }
      // The pool reports a release before it has the connection back.
      if (this.#waiting > 0) queueMicrotask(() => this.#serve());
    };
  }
}

function queueOf({ organizationId, userId, role }: ConnectionOwner): string {
  return organizationId ?? userId ?? role;
}

function tooMany(active: number): AppError {
  return new AppError(
    'database_busy',
    `${active} units of work hold or wait for a database connection; try again in a moment.`,
    { details: { retryAfterSeconds: 1 } },
  );
}

import { AppError, deadlineExceeded } from '#entities/kit/base/errors.ts';
import { withTimeout } from '#entities/kit/base/concurrency/with-timeout.ts';

/** Largest part of the operations that one organization may run. */
const organizationShare = 0.75;

/** How many operations may wait for each one that may run, unless the queue says otherwise. */
const defaultWaitingFactor = 10;

interface Waiter {
  readonly start: () => void;
  readonly reject: (error: AppError) => void;
}

/**
 * Limits how many GraphQL operations of this process run at the same time (`server.graphpool.maxworkers`). Organizations that wait
 * take turns, whatever the number of their operations, and run at most three quarters of them, as at the connections of the database
 * (`ConnectionQueue`); within an organization, operations start in the order of their arrival. Each waits until the deadline of its
 * request at most. When too many wait, those are rejected who wait behind most others of their own organization.
 */
export class OperationQueue {
  readonly #maxRunning: () => number;
  #running = 0;
  /** Running operations by owner. */
  readonly #runningOf = new Map<string, number>();
  /** Waiting operations, by organization or person. The first one has the next turn. */
  readonly #queues = new Map<string, Waiter[]>();

  readonly #waitingFactor: number;

  /**
   * @param maxRunning read before each start, because the configuration can change
   * @param waitingFactor how many may wait for each one that may run
   */
  constructor(maxRunning: () => number, waitingFactor = defaultWaitingFactor) {
    this.#maxRunning = maxRunning;
    this.#waitingFactor = waitingFactor;
  }

  get running(): number {
    return this.#running;
  }

  get waiting(): number {
    return [...this.#queues.values()].reduce((sum, queue) => sum + queue.length, 0);
  }

  /**
   * Runs work when it is its owner's turn.
   * @param owner id of the organization or the person on whose behalf it runs
   * @param deadline in milliseconds since the epoch
   * @throws AppError deadline_exceeded if its turn does not come before the deadline, overloaded, and whatever the work throws
   */
  async run<T>(owner: string, deadline: number, work: () => Promise<T>): Promise<T> {
    if (this.#queues.size === 0 && this.#mayRun(owner)) this.#begin(owner);
    else await this.#turn(owner, deadline);
    try {
      return await work();
    } finally {
      this.#end(owner);
      this.#serve();
    }
  }

  /** Starts as many of those who wait as may run; to be called when the limit was raised. */
  wake(): void {
    this.#serve();
  }

  #turn(owner: string, deadline: number): Promise<void> {
    if (this.waiting >= this.#maxRunning() * this.#waitingFactor && !this.#makeRoom(owner))
      return Promise.reject(tooMany(this.waiting));
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const waiter: Waiter = { start: resolve, reject };
    const queue = this.#queues.get(owner) ?? [];
    queue.push(waiter);
    this.#queues.set(owner, queue);
    // The others may wait for the share of their own organization.
    this.#serve();
    return withTimeout(promise, deadline - Date.now(), () => {
      // An operation that has been started in the same moment continues: its place is taken already.
      if (!this.#remove(owner, waiter)) return;
      throw deadlineExceeded();
    });
  }

  /** Rejects the last one of the longest queue, unless the queue of this owner would then be as long. */
  #makeRoom(owner: string): boolean {
    const own = this.#queues.get(owner)?.length ?? 0;
    const [longest] = [...this.#queues].toSorted(([, one], [, other]) => other.length - one.length);
    const last = longest?.[1].at(-1);
    if (!longest || !last || longest[1].length <= own + 1) return false;
    this.#remove(longest[0], last);
    last.reject(tooMany(this.waiting));
    return true;
  }

  #remove(owner: string, waiter: Waiter): boolean {
    const queue = this.#queues.get(owner);
    const index = queue?.indexOf(waiter) ?? -1;
    if (!queue || index < 0) return false;
    queue.splice(index, 1);
    if (queue.length === 0) this.#queues.delete(owner);
    return true;
  }

  #serve(): void {
    for (let owner = this.#next(); owner !== undefined; owner = this.#next()) {
      const queue = this.#queues.get(owner) ?? [];
      const waiter = queue.shift();
      this.#queues.delete(owner);
      // Its next turn comes after those of all others.
      if (queue.length > 0) this.#queues.set(owner, queue);
      this.#begin(owner);
      waiter?.start();
    }
  }

  /** The first of those who wait that may run. */
  #next(): string | undefined {
    return [...this.#queues.keys()].find((owner) => this.#mayRun(owner));
  }

  #mayRun(owner: string): boolean {
    const max = this.#maxRunning();
    const share = Math.max(1, Math.floor(max * organizationShare));
    return this.#running < max && (this.#runningOf.get(owner) ?? 0) < share;
  }

  #begin(owner: string): void {
    this.#running++;
    this.#runningOf.set(owner, (this.#runningOf.get(owner) ?? 0) + 1);
  }

  #end(owner: string): void {
    this.#running--;
    const left = (this.#runningOf.get(owner) ?? 1) - 1;
    if (left > 0) this.#runningOf.set(owner, left);
    else this.#runningOf.delete(owner);
  }
}

function tooMany(waiting: number): AppError {
  return new AppError('overloaded', `${waiting} GraphQL operations are queued; try again in a moment.`, {
    details: { retryAfterSeconds: 1 },
  });
}

import { AppError } from '#entities/kit/base/errors.ts';

/** Purpose of the hash of a password. A waiting sign-in always goes before all waiting sign-ups. */
export type HashPurpose = 'sign-in' | 'sign-up';

interface HashQueueLimits {
  /** Hashes computed at the same time. */
  readonly concurrency: number;
  /** Hashes of each purpose that may wait; further ones are refused. */
  readonly waiting: Readonly<Record<HashPurpose, number>>;
}

/** Bounds how many password hashes are computed and how many wait, so that sign-ups cannot stop sign-ins. */
export class HashQueue {
  readonly #limits: HashQueueLimits;
  #running = 0;
  /** In the order in which they are served. */
  readonly #waiting: Readonly<Record<HashPurpose, (() => void)[]>> = { 'sign-in': [], 'sign-up': [] };

  constructor(limits: HashQueueLimits) {
    this.#limits = limits;
  }

  /** @throws AppError overloaded when too many hashes of this purpose wait already */
  async run<T>(purpose: HashPurpose, work: () => Promise<T>): Promise<T> {
    await this.#acquireSlot(purpose);
    try {
      return await work();
    } finally {
      this.#releaseSlot();
    }
  }

  async #acquireSlot(purpose: HashPurpose): Promise<void> {
    if (this.#running < this.#limits.concurrency) {
      this.#running++;
      return;
    }
    const waiting = this.#waiting[purpose];
    if (waiting.length >= this.#limits.waiting[purpose])
      throw new AppError(
        'overloaded',
        `${waiting.length} other ${purpose}s wait for their password to be processed; try again in a few seconds.`,
        { details: { retryAfterSeconds: 5 } },
      );
    await new Promise<void>((resolve) => waiting.push(resolve));
  }

  /** Hands the slot to the next one that waits; `#running` does not change then. */
  #releaseSlot(): void {
    const next = this.#waiting['sign-in'].shift() ?? this.#waiting['sign-up'].shift();
    if (next) next();
    else this.#running--;
  }
}

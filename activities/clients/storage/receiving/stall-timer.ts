import { StorageError } from '../provider.ts';

/**
 * Ends work on a file in which nothing progresses: a provider that does not answer, or answers byte by byte, would hold memory and room
 * for as long as it likes. The time runs while the server waits for its provider or for room, not while it waits for its client.
 */
export class StallTimer {
  readonly #ended = new AbortController();
  readonly #timer: NodeJS.Timeout;
  #isWaiting = false;

  /** @param timeoutMs without any progress, in milliseconds */
  constructor(timeoutMs: number) {
    this.#timer = setTimeout(() => {
      if (this.#isWaiting) this.end(new StorageError('unavailable', `Nothing was stored for ${timeoutMs} ms.`));
    }, timeoutMs);
  }

  /** Aborted when nothing has progressed, and by `end`. */
  get signal(): AbortSignal {
    return this.#ended.signal;
  }

  /** The time begins anew. */
  readonly progressed = (): void => {
    this.#timer.refresh();
  };

  /** The time runs while this works. */
  async during<T>(work: () => Promise<T>): Promise<T> {
    this.#isWaiting = true;
    this.progressed();
    try {
      return await work();
    } finally {
      this.#isWaiting = false;
    }
  }

  /** The work is over; what is still under way ends with the reason. */
  end(reason?: unknown): void {
    clearTimeout(this.#timer);
    this.#ended.abort(reason);
  }
}

/** Waits for work until the signal is aborted. @throws its reason; the work may continue then */
export async function abortable<T>(signal: AbortSignal, work: () => Promise<T>): Promise<T> {
  signal.throwIfAborted();
  const { promise: aborted, reject } = Promise.withResolvers<never>();
  const leave = () => reject(signal.reason as Error);
  signal.addEventListener('abort', leave, { once: true });
  try {
    return await Promise.race([work(), aborted]);
  } finally {
    signal.removeEventListener('abort', leave);
  }
}

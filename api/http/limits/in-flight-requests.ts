import { withTimeout } from '#entities/kit/base/concurrency/with-timeout.ts';

/** Counts the requests in progress, so that a stop can wait for them. */
export class InFlightRequests {
  #count = 0;
  #onQuiet: (() => void) | undefined;

  get count(): number {
    return this.#count;
  }

  /** @returns a function to call when the request has ended; further calls have no effect */
  enter(): () => void {
    this.#count++;
    let isInside = true;
    return () => {
      if (!isInside) return;
      isInside = false;
      if (--this.#count === 0) this.#onQuiet?.();
    };
  }

  /** Resolves when no request is in progress, or after this time. */
  async quiet(withinMs: number): Promise<void> {
    if (this.#count === 0) return;
    const quiet = new Promise<void>((resolve) => {
      this.#onQuiet = resolve;
    });
    await withTimeout(quiet, withinMs, () => undefined);
  }
}

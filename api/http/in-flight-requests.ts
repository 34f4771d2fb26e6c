import { withTimeout } from '#entities/kit/base/with-timeout.ts';

/** Requests under way in this process, so that a stop can let them finish. */
export class InFlightRequests {
  #underWay = 0;
  #onQuiet: (() => void) | undefined;

  /** @returns to be called when the request has ended; further calls do nothing */
  enter(): () => void {
    this.#underWay++;
    let isInside = true;
    return () => {
      if (!isInside) return;
      isInside = false;
      if (--this.#underWay === 0) this.#onQuiet?.();
    };
  }

  /** Resolves when no request is under way any more, or when the time is over. */
  async quiet(withinMs: number): Promise<void> {
    if (this.#underWay === 0) return;
    const quiet = new Promise<void>((resolve) => {
      this.#onQuiet = resolve;
    });
    await withTimeout(quiet, withinMs, () => undefined);
  }
}

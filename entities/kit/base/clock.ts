/** The source of the present time. It is injected: code outside workflows never reads the system clock directly. */
export interface Clock {
  now(): Date;
}

export const systemClock: Clock = { now: () => new Date() };

/** A clock that stands still until `advance` is called; tests advance it instead of sleeping. */
export class ManualClock implements Clock {
  #nowMs: number;

  constructor(start: Date) {
    this.#nowMs = start.getTime();
  }

  now(): Date {
    return new Date(this.#nowMs);
  }

  advance(milliseconds: number): void {
    this.#nowMs += milliseconds;
  }
}

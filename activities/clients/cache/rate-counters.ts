import { LRUCache } from 'lru-cache';
import type { Clock } from '#entities/kit/base/clock.ts';
import { countAt, hasRoom, standingOf, type RateLimit, type Standing, type WindowCount } from './sliding-window.ts';

export interface RateDecision {
  readonly isRefused: boolean;
  /** In the order of the limits. */
  readonly standings: readonly Standing[];
}

export interface RateCounters {
  /** Counts a request, if it stays within all limits. @param countsRefused counts it also otherwise */
  take(limits: readonly RateLimit[], countsRefused: boolean): RateDecision | Promise<RateDecision>;
  readonly held: number;
  /** Requests that this process has counted by itself because shared counters did not answer. */
  readonly fallbacks: number;
}

/**
 * Counters that one process keeps; about 300 bytes each. Beyond it, those that have been idle longest are forgotten, so clients with many
 * addresses cannot use up the memory.
 */
export const maxHeldCounters = 100_000;

interface HeldCount extends WindowCount {
  readonly expiresAtMs: number;
}

export class HeldRateCounters implements RateCounters {
  readonly #clock: Clock;
  // With `max` it would reserve memory for all of them at once.
  readonly #counts = new LRUCache<string, HeldCount>({ maxSize: maxHeldCounters, sizeCalculation: () => 1 });
  readonly fallbacks = 0;
  #flushedAtMs = 0;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  get held(): number {
    return this.#counts.size;
  }

  take(limits: readonly RateLimit[], countsRefused: boolean): RateDecision {
    const nowMs = this.#clock.now().getTime();
    this.#flush(limits, nowMs);
    const counts = limits.map((limit) => countAt(this.#stored(limit, nowMs), nowMs, limit.windowMs));
    const isRefused = limits.some((limit, at) => !hasRoom(limit, counts[at] as WindowCount, nowMs));
    const standings = limits.map((limit, at) => {
      const before = counts[at] as WindowCount;
      if (isRefused && !countsRefused) return standingOf(limit, before, nowMs);
      const count = { ...before, current: before.current + 1 };
      this.#counts.set(counterName(limit), { ...count, expiresAtMs: nowMs + limit.expirationMs });
      return standingOf(limit, count, nowMs);
    });
    return { isRefused, standings };
  }

  #stored(limit: RateLimit, nowMs: number): WindowCount | undefined {
    const stored = this.#counts.get(counterName(limit));
    return stored && stored.expiresAtMs > nowMs ? stored : undefined;
  }

  #flush(limits: readonly RateLimit[], nowMs: number): void {
    if (!limits.some(({ flushIntervalMs }) => nowMs - this.#flushedAtMs >= flushIntervalMs)) return;
    this.#flushedAtMs = nowMs;
    for (const [name, { expiresAtMs }] of this.#counts.entries()) if (expiresAtMs <= nowMs) this.#counts.delete(name);
  }
}

export function counterName({ key, windowMs }: RateLimit): string {
  return `${key}|${windowMs}`;
}

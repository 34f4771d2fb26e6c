import { LRUCache } from 'lru-cache';
import type { Clock } from '#entities/kit/base/clock.ts';

/** How long somebody whose answer was of no use is not asked again, in milliseconds. */
const pauseMs = 30_000;

/** Asks others, each not more than once at a time, and not again right after a failure: strangers can make any number of requests. */
export class AskedOnce<Answer> {
  readonly #clock: Clock;
  /** Questions under way, for whose answer all who ask meanwhile wait. */
  readonly #asked = new Map<string, Promise<Answer>>();
  /** Why the last question failed, and until when there is no other. */
  readonly #failures: LRUCache<string, { readonly error: unknown; readonly untilMs: number }>;

  /** @param max number of failures that are remembered */
  constructor(clock: Clock, max: number) {
    this.#clock = clock;
    this.#failures = new LRUCache({ max });
  }

  /** @throws what the question throws, and that again until the pause is over */
  async ask(key: string, question: () => Promise<Answer>): Promise<Answer> {
    const failure = this.#failures.get(key);
    if (failure && this.#clock.now().getTime() < failure.untilMs) throw failure.error;
    const asked = this.#asked.get(key) ?? question();
    this.#asked.set(key, asked);
    try {
      return await asked;
    } catch (error) {
      this.#failures.set(key, { error, untilMs: this.#clock.now().getTime() + pauseMs });
      throw error;
    } finally {
      this.#asked.delete(key);
    }
  }
}

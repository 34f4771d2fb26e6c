import { setTimeout as pause } from 'node:timers/promises';
import { isAppError, statusOf } from '#entities/kit/base/errors.ts';

/**
 * Repeats a request while the server answers 503: on a busy machine that is no mistake. Any other error is thrown.
 */
export async function untilAvailable<T>(work: () => Promise<T>, withinMs = 60_000): Promise<T> {
  const giveUpAt = Date.now() + withinMs;
  for (;;) {
    try {
      return await work();
    } catch (error) {
      if (!isAppError(error) || statusOf(error.code) !== 503 || Date.now() > giveUpAt) throw error;
      await pause(100);
    }
  }
}

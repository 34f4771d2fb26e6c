import { setTimeout as pause } from 'node:timers/promises';

/**
 * Asks until the answer is there; for what other processes bring about. Asynchronous parts of the product are waited for
 * like this, never slept for.
 * @param withinMs ends what would never come; generous, because it also has to come on a machine that is busy with other things
 * @param question undefined, null, false or a throw mean "not yet"
 */
export async function eventually<T>(
  question: () => Promise<T | undefined | null | false> | T | undefined | null | false,
  withinMs = 600_000,
): Promise<T> {
  const giveUpAt = Date.now() + withinMs;
  let last: unknown;
  for (;;) {
    try {
      const answer = await question();
      if (answer !== undefined && answer !== null && answer !== false) return answer;
    } catch (error) {
      last = error;
    }
    if (Date.now() > giveUpAt) throw new Error(`it did not happen within ${withinMs} ms`, { cause: last });
    await pause(15);
  }
}

import { setTimeout as pause } from 'node:timers/promises';

/** Pauses between questions, in milliseconds. */
const [shortestPauseMs, longestPauseMs] = [15, 250];

/**
 * Asks until the answer is there; for what other processes bring about. Asynchronous parts of the product are waited for
 * like this, never slept for.
 * @param withinMs ends what would never come; a minute is generous also on a machine that is busy with other things
 * @param question undefined, null, false or a throw mean "not yet"
 */
export async function eventually<T>(
  question: () => Promise<T | undefined | null | false> | T | undefined | null | false,
  withinMs = 60_000,
): Promise<T> {
  const beganAt = Date.now();
  let last: unknown;
  for (;;) {
    try {
      const answer = await question();
      if (answer !== undefined && answer !== null && answer !== false) return answer;
    } catch (error) {
      last = error;
    }
    const waitedMs = Date.now() - beganAt;
    if (waitedMs > withinMs) {
      const reason = last instanceof Error ? `: ${last.message}` : '';
      throw new Error(`it did not happen within ${withinMs} ms${reason}`, { cause: last });
    }
    // The longer it takes, the less often it is checked: each check delays the awaited work.
    await pause(Math.min(Math.max(shortestPauseMs, waitedMs / 8), longestPauseMs));
  }
}

/**
 * Waits until nothing is left. Whenever less is left than ever, the time begins again: how much there is to do depends on the depth of the run,
 * and how fast it is done on the machine.
 * @param left number of things that are not done yet; a throw means "not yet"
 */
export async function eventuallyNone(left: () => Promise<number>, withinMs?: number): Promise<void> {
  let least = Infinity;
  while (least > 0)
    ({ least } = await eventually(async () => {
      const count = await left();
      return count < least && { least: count };
    }, withinMs));
}

import { setTimeout as pause } from 'node:timers/promises';

/** Calls so many times a second, whether or not the call before has ended. */
export async function paced(perSecond: number, forMs: number, work: () => Promise<void>): Promise<void> {
  const running: Promise<void>[] = [];
  const startedAt = Date.now();
  for (let turn = 0; turn * (1_000 / perSecond) < forMs; turn++) {
    await pause(Math.max(0, startedAt + turn * (1_000 / perSecond) - Date.now()));
    running.push(work());
  }
  await Promise.all(running);
}

/**
 * Waits until everything that was committed has had its effect.
 * @param committed when, by key
 * @param effects when the effects happened that are known so far, by key
 * @returns times between both, in milliseconds
 */
export async function latenciesOf(
  committed: ReadonlyMap<string, number>,
  effects: () => Promise<ReadonlyMap<string, number>>,
): Promise<number[]> {
  for (;;) {
    const at = await effects();
    const both = Array.from(committed, ([key, from]) => [from, at.get(key)] as const);
    // A commit is timed after its answer, so a very fast effect may seem to be before it.
    if (both.every(([, to]) => to !== undefined)) return both.map(([from, to]) => Math.max(0, (to as number) - from));
    await pause(50);
  }
}

import { setTimeout as pause } from 'node:timers/promises';

/** After so many milliseconds a slice ends with the current transaction, and its progress is stored. */
const sliceMs = 2_000;

/**
 * Repeats a short transaction for a while. Nobody waits for it, and others do wait for PostgreSQL: it rests as long as it worked.
 * @param work returns whether there is more to do
 * @returns whether there is more to do
 */
export async function restingSlice(work: () => Promise<boolean>): Promise<boolean> {
  const endsAt = Date.now() + sliceMs;
  let hasMore = true;
  while (hasMore && Date.now() < endsAt) {
    const startedAt = performance.now();
    hasMore = await work();
    await pause(performance.now() - startedAt);
  }
  return hasMore;
}

import { createHook } from 'node:async_hooks';

/** Runs something and counts the argon2 computations it starts: the work, not the time, must be the same for all accounts. */
export async function countHashes<T>(work: () => Promise<T>): Promise<{ readonly hashes: number; readonly result: T }> {
  let hashes = 0;
  const hook = createHook({
    init: (_id, type) => {
      if (type === 'ARGON2REQUEST') hashes++;
    },
  }).enable();
  try {
    const result = await work();
    return { hashes, result };
  } finally {
    hook.disable();
  }
}

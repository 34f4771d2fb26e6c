/**
 * Waits for work for at most `timeoutMs`. A timeout does not stop the work: it goes on, and its later result or failure is
 * ignored.
 * @param onTimeout its result, or the error it throws, replaces the result of the work
 */
export async function withTimeout<T, U = T>(
  work: PromiseLike<T>,
  timeoutMs: number,
  onTimeout: () => U,
): Promise<T | U> {
  let timer: NodeJS.Timeout | undefined;
  const timeout = new Promise<U>((resolve, reject) => {
    timer = setTimeout(
      () => {
        try {
          resolve(onTimeout());
        } catch (error) {
          reject(error);
        }
      },
      Math.max(0, timeoutMs),
    );
  });
  try {
    // `Promise.race` handles both promises, so a later rejection of the work is not an unhandled one.
    return await Promise.race([work, timeout]);
  } finally {
    clearTimeout(timer);
  }
}

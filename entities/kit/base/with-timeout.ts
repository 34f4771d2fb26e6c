/**
 * Waits for work, at most this long. The work is not stopped: it goes on, and what becomes of it afterwards is ignored, a
 * failure as well.
 * @param onTimeout what it returns, or throws, takes the place of the result
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
    // A race listens to both, so the one that comes second may fail without being unhandled.
    return await Promise.race([work, timeout]);
  } finally {
    clearTimeout(timer);
  }
}

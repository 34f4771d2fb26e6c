/**
 * Waits for work for at most `timeoutMs`. A timeout does not stop the work: it continues, and its later result or failure is ignored.
 * @param onTimeout its result, or the error it throws, replaces the result of the work
 */
export function withTimeout<T, U = T>(work: PromiseLike<T>, timeoutMs: number, onTimeout: () => U): Promise<T | U> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(
      () => {
        try {
          resolve(onTimeout());
        } catch (error) {
          reject(error);
        }
      },
      Math.max(0, timeoutMs),
    );
    // A failure after the timeout is handled, too: it has no effect.
    const inTime = <V>(settle: (value: V) => void) => {
      return (value: V) => {
        clearTimeout(timer);
        settle(value);
      };
    };
    work.then(inTime(resolve), inTime(reject));
  });
}

/**
 * Works on all items, at most `limit` at the same time. After a failure no further item is begun.
 * @returns the results in the order of the items
 */
export async function concurrently<T, Result>(
  items: readonly T[],
  limit: number,
  work: (item: T) => Promise<Result>,
): Promise<Result[]> {
  const left = items.entries();
  const results: Result[] = [];
  let hasFailed = false;
  const take = async () => {
    for (const [index, item] of left) {
      if (hasFailed) return;
      try {
        results[index] = await work(item);
      } catch (error) {
        hasFailed = true;
        throw error;
      }
    }
  };
  await Promise.all(Array.from({ length: Math.min(limit, items.length) }, take));
  return results;
}

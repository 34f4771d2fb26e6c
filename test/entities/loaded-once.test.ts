import { expect, test } from 'vitest';
import { loadedOnce } from '#entities/kit/base/loaded-once.ts';

test('a value is loaded once for all calls, and again after a failure', async () => {
  let loads = 0;
  const load = loadedOnce(async () => {
    loads++;
    if (loads === 1) throw new Error('not there yet');
    return loads;
  });
  await expect(load()).rejects.toThrow('not there yet');
  expect(await Promise.all([load(), load()])).toEqual([2, 2]);
  expect(await load()).toBe(2);
});

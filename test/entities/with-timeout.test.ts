import { setTimeout as pause } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { withTimeout } from '#entities/kit/base/concurrency/with-timeout.ts';

const never = new Promise<string>(() => {});
const late = (): string => {
  throw new Error('late');
};

test('work that ends in time gives its result or its error', async () => {
  expect(await withTimeout(Promise.resolve('done'), 1_000, late)).toBe('done');
  await expect(withTimeout(Promise.reject(new Error('failed')), 1_000, late)).rejects.toThrow('failed');
});

test('work that takes longer is replaced by what onTimeout returns or throws', async () => {
  expect(await withTimeout(never, 5, () => 'instead')).toBe('instead');
  await expect(withTimeout(never, 5, late)).rejects.toThrow('late');
  await expect(withTimeout(never, -1, late)).rejects.toThrow('late');
});

test('a failure after the time is ignored', async () => {
  const failing = pause(20).then(() => Promise.reject(new Error('too late to matter')));
  expect(await withTimeout(failing, 1, () => 'instead')).toBe('instead');
  // A rejection that nobody handles would fail the run.
  await pause(40);
  await expect(failing).rejects.toThrow('too late to matter');
});

test('no timer is left behind', async () => {
  const timers = () => process.getActiveResourcesInfo().filter((name) => name === 'Timeout').length;
  const before = timers();
  await withTimeout(Promise.resolve(), 3_600_000, late);
  expect(timers()).toBe(before);
});

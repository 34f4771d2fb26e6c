import { mkdtemp, realpath, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { takeRunSlot } from './run-slot.ts';

test('runs beside each other get state folders of their own, which later runs use again', async () => {
  const local = await realpath(await mkdtemp(join(tmpdir(), 'slots-')));
  const [first, second] = await Promise.all([takeRunSlot(local), takeRunSlot(local)]);
  const paths = await Promise.all(['test', 'test-1'].map((name) => realpath(join(local, name))));
  expect([first.stateDir, second.stateDir].toSorted()).toEqual(paths.toSorted());
  await first.release();
  const third = await takeRunSlot(local);
  expect(third.stateDir).toBe(first.stateDir);
  await Promise.all([second.release(), third.release()]);
  await rm(local, { recursive: true });
});

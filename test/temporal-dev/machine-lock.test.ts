import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { expect, test } from 'vitest';
import { machineLockName, tryMachineLock, withMachineLock } from '#temporal-dev/machine/machine-lock.ts';

let count = 0;
const freshName = (): string => machineLockName('test', `${process.pid}/${(count += 1)}`);

/** Another process that holds `name` until it is killed. */
async function holdElsewhere(name: string): Promise<{ kill: () => Promise<void> }> {
  const module = new URL('../../temporal-dev/machine/machine-lock.ts', import.meta.url).href;
  const program = `const { tryMachineLock } = await import(${JSON.stringify(module)});
    await tryMachineLock(${JSON.stringify(name)}, 'building a cathedral');
    console.log('held');`;
  const child = spawn(process.execPath, ['--input-type=module', '-e', program], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  await once(child.stdout, 'data');
  return {
    kill: async () => {
      child.kill('SIGKILL');
      await once(child, 'exit');
    },
  };
}

test('one of two holders gets the right, the other waits its turn', async () => {
  const name = freshName();
  const options = { purpose: 'testing', waitMs: 5000, report: () => {} };
  const steps: string[] = [];
  await Promise.all(
    ['first', 'second'].map((who) =>
      withMachineLock(name, options, async () => {
        steps.push(`${who} in`);
        await new Promise((resolve) => setTimeout(resolve, 30));
        steps.push(`${who} out`);
      }),
    ),
  );
  expect(steps).toHaveLength(4);
  expect(steps[0]?.replace(' in', ' out')).toBe(steps[1]);
});

test('the right of a killed process is free at once', async () => {
  const name = freshName();
  const holder = await holdElsewhere(name);
  expect(await tryMachineLock(name, 'testing')).toBeUndefined();
  await holder.kill();
  const right = await tryMachineLock(name, 'testing');
  expect(right).toBeDefined();
  await right?.release();
});

test('whoever waits is told for whom and why, and in the end that it took too long', async () => {
  const name = freshName();
  const holder = await holdElsewhere(name);
  const lines: string[] = [];
  const waiting = withMachineLock(name, { purpose: 'testing', waitMs: 300, report: (line) => lines.push(line) }, () =>
    Promise.resolve(),
  );
  await expect(waiting).rejects.toThrow(
    /process \d+ is building a cathedral and did not finish within 0 s: stop it first/,
  );
  expect(lines).toEqual([expect.stringMatching(/^waiting: process \d+ is building a cathedral$/)]);
  await holder.kill();
});

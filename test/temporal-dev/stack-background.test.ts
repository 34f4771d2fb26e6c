// Left to npm run prove; npm test has test/temporal-dev/stack.test.ts.
import { existsSync, rmSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { resetStack } from '#temporal-dev/stack/reset-stack.ts';
import { attachStack } from '#temporal-dev/stack/running-stack.ts';
import { stopStack } from '#temporal-dev/stack/start-stack.ts';
import { readState } from '#temporal-dev/servers/stack-state.ts';
import { query } from './stack-data.ts';
import { ownerOf, processesOf, SMALL, startTestStack, useStateDirectories } from './stack-fixture.ts';

const temporaryStateDirectory = useStateDirectories();

test('a second owner is refused, and told who the first is', async () => {
  const stateDir = await temporaryStateDirectory();
  const owner = await ownerOf(stateDir);
  const refusal = `the servers in ${stateDir} are in use by node stack-owner.ts (pid ${owner.pid}): stop it first`;
  await expect(startTestStack({ ...SMALL, stateDir })).rejects.toThrow(refusal);
  await expect(stopStack(stateDir, () => {})).rejects.toThrow(refusal);
  await expect(resetStack(stateDir, () => {})).rejects.toThrow(refusal);
});

describe('servers in the background', () => {
  test('of two starts at the same time the second uses what the first started', async () => {
    const stateDir = await temporaryStateDirectory();
    const start = () => startTestStack({ ...SMALL, stateDir, detached: true });
    const [one, other] = await Promise.all([start(), start()]);
    expect(one.postgres?.pid).toBe(other.postgres?.pid);
    expect(one.redis?.pid).toBe(other.redis?.pid);
  });

  test('are used by a start in the foreground and outlive it, and end with stop', async () => {
    const stateDir = await temporaryStateDirectory();
    const background = await startTestStack({ ...SMALL, redis: false, stateDir, detached: true });
    const foreground = await startTestStack({ ...SMALL, stateDir });
    expect(foreground.postgres?.pid).toBe(background.postgres?.pid);
    await foreground.stop();
    expect(Object.keys(readState(stateDir).parts)).toEqual(['postgres']);
    expect(await query(background, 'select 1')).toBe(1);
    expect(await stopStack(stateDir, () => {})).toEqual(['postgres']);
    expect(processesOf(stateDir)).toEqual([]);
  });

  test('and their data are gone after a reset, which names what it deletes', async () => {
    const stateDir = await temporaryStateDirectory();
    await startTestStack({ ...SMALL, stateDir, detached: true });
    const lines: string[] = [];
    await resetStack(stateDir, (line) => lines.push(line));
    expect(lines).toEqual(
      expect.arrayContaining([
        'postgres stopped',
        `deleting ${join(stateDir, 'postgres')}`,
        `deleting ${join(stateDir, 'logs')}`,
      ]),
    );
    expect(existsSync(join(stateDir, 'postgres'))).toBe(false);
    expect(processesOf(stateDir)).toEqual([]);
  });
});

test('a folder is the same one by another name', async () => {
  const stateDir = await temporaryStateDirectory();
  const otherName = `${stateDir} link`;
  symlinkSync(stateDir, otherName);
  onTestFinished(() => {
    rmSync(otherName);
  });
  const stack = await startTestStack({ ...SMALL, stateDir: otherName });
  await stack.kill('postgres');
  await attachStack(stateDir).restart('postgres');
  expect(await query(stack, 'select 1')).toBe(1);
  await stack.stop();
  expect(processesOf(stateDir)).toEqual([]);
});

test('two folders run side by side', async () => {
  const directories = await Promise.all([temporaryStateDirectory(), temporaryStateDirectory()]);
  const [one, other] = await Promise.all(directories.map((stateDir) => startTestStack({ ...SMALL, stateDir })));
  expect(one?.postgres?.port).not.toBe(other?.postgres?.port);
});

// Left to npm run prove; npm test has test/temporal-dev/stack.test.ts.
import { spawn } from 'node:child_process';
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, describe, expect, onTestFinished, test } from 'vitest';
import { clusterDirectory } from '#temporal-dev/servers/launch-postgres.ts';
import { findProcesses, identify, isAlive, workingDirectory } from '#temporal-dev/machine/process-table.ts';
import { attachStack } from '#temporal-dev/stack/running-stack.ts';
import { startStack } from '#temporal-dev/stack/start-stack.ts';
import { readState, writeState } from '#temporal-dev/servers/stack-state.ts';
import { ALL_TRACES, findTraces, leaveTraces, query } from './stack-data.ts';
import {
  COLD_TIMEOUT_MS,
  ownerOf,
  processesOf,
  SMALL,
  startTestStack,
  temporaryDirectory,
  useStateDirectories,
} from './stack-fixture.ts';

const temporaryStateDirectory = useStateDirectories();

/** A process that has nothing to do with any stack. */
function stranger(): number {
  const child = spawn('sleep', ['60'], { stdio: 'ignore' });
  onTestFinished(() => {
    child.kill();
  });
  return child.pid ?? 0;
}

const watchdogsOf = (stateDir: string) =>
  findProcesses((pid) => commandLine(pid).includes(`stop-orphans.ts\0${stateDir}`));

/** Empty for a process that has ended since it was listed. */
function commandLine(pid: number): string {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8');
  } catch {
    return '';
  }
}

test('servers end with the process they belong to, even when it is killed', async () => {
  const stateDir = await temporaryStateDirectory();
  const owner = await ownerOf(stateDir);
  expect(processesOf(stateDir).length).toBeGreaterThan(2);
  await owner.kill();
  await expect.poll(() => processesOf(stateDir)).toEqual([]);
  await expect.poll(() => watchdogsOf(stateDir)).toEqual([]);
});

test('a start after everything was killed at once has all data', { timeout: COLD_TIMEOUT_MS }, async () => {
  const stateDir = await temporaryStateDirectory();
  const owner = await ownerOf(stateDir, true);
  const traces = await leaveTraces(attachStack(stateDir), stateDir);
  for (const { pid } of watchdogsOf(stateDir)) process.kill(pid, 'SIGKILL');
  for (const pid of processesOf(stateDir))
    try {
      process.kill(pid, 'SIGKILL');
    } catch (error) {
      // It has ended with one that was killed before it.
      if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
    }
  await owner.kill();
  const stack = await startTestStack({ stateDir, redis: true });
  expect(await findTraces(stack, stateDir, traces)).toEqual(ALL_TRACES);
});

test('servers that outlived their owner and its watchdog are replaced by the next start', async () => {
  const stateDir = await temporaryStateDirectory();
  const owner = await ownerOf(stateDir);
  const orphans = Object.values(readState(stateDir).parts).map(({ identity }) => identity);
  for (const { pid } of watchdogsOf(stateDir)) process.kill(pid, 'SIGKILL');
  await owner.kill();
  // As if the owner had been killed before it could write down what it started.
  writeState(stateDir, { ...readState(stateDir), parts: {} });
  expect(orphans.every(isAlive)).toBe(true);
  const stack = await startTestStack({ ...SMALL, stateDir });
  expect(orphans.some(isAlive)).toBe(false);
  expect(await query(stack, 'select 1')).toBe(1);
});

test.each([true, false])(
  'a stranger with the number of a dead server is left alone (on record: %s)',
  async (isOnRecord) => {
    const stateDir = await temporaryStateDirectory();
    const first = await startTestStack({ ...SMALL, stateDir });
    const { parts } = readState(stateDir);
    await first.stop();
    const pid = stranger();
    const record = parts.postgres;
    if (record === undefined) throw new Error('no record of PostgreSQL');
    // Its number, but the start time of the server that had it before.
    const stale = { ...record, owner: null, identity: { ...record.identity, pid } };
    writeState(stateDir, { ...readState(stateDir), parts: isOnRecord ? { postgres: stale } : {} });
    writeFileSync(join(clusterDirectory(stateDir), 'postmaster.pid'), `${pid}\n${clusterDirectory(stateDir)}\n`);
    const stack = await startTestStack({ ...SMALL, stateDir });
    expect(await query(stack, 'select 1')).toBe(1);
    expect(identify(pid)).toBeDefined();
  },
);

test('an interrupted start leaves nothing running', async () => {
  const stateDir = await temporaryStateDirectory();
  const controller = new AbortController();
  const report = (): void => controller.abort();
  await expect(
    startStack({ ...SMALL, stateDir, profile: 'development', signal: controller.signal, report }),
  ).rejects.toThrow('the start was interrupted');
  expect(processesOf(stateDir)).toEqual([]);
});

test('the test profile starts empty', async () => {
  const stateDir = await temporaryStateDirectory();
  const first = await startTestStack({ ...SMALL, stateDir, profile: 'test' });
  await query(first, 'create table left_over ()');
  expect(await query(first, "select 1 from pg_settings where name = 'fsync' and setting = 'off'")).toBe(1);
  await first.stop();
  const second = await startTestStack({ ...SMALL, stateDir, profile: 'test' });
  expect(await query(second, "select 1 from pg_class where relname = 'left_over'")).toBe(0);
});

test('a server that cannot start is named with the end of its log, and nothing is left running', async () => {
  const stateDir = await temporaryStateDirectory();
  const first = await startTestStack({ ...SMALL, stateDir });
  await first.stop();
  writeFileSync(join(clusterDirectory(stateDir), 'postgresql.conf'), 'no_such_setting = 1\n');
  await expect(startTestStack({ ...SMALL, stateDir })).rejects.toThrow(
    /^postgres did not start \(exit code 1\): the end of .*postgres\.log:[^]*no_such_setting/,
  );
  expect(processesOf(stateDir)).toEqual([]);
});

test('a PostgreSQL folder that is not whole is named with the way out', async () => {
  const stateDir = await temporaryStateDirectory();
  rmSync(join(stateDir, 'postgres', 'password'));
  await expect(startTestStack({ ...SMALL, stateDir })).rejects.toThrow(
    `${join(stateDir, 'postgres')} is not a complete PostgreSQL folder: \`npm run stack -- reset\` starts over with empty data`,
  );
});

test('a state folder that cannot be written is one clear line', async () => {
  await expect(
    startStack({ ...SMALL, stateDir: '/sys/core-server', profile: 'test', report: () => {} }),
  ).rejects.toThrow(
    /^cannot write to \/sys\/core-server \(.*\): run as the user who owns it, or make it writable for this user$/,
  );
});

describe('as root', () => {
  beforeEach((context) => {
    context.skip(process.getuid?.() !== 0, 'only root starts PostgreSQL as another user');
  });

  test('PostgreSQL runs as another user where that one can reach the folder', async () => {
    const stateDir = await temporaryStateDirectory();
    const stack = await startTestStack({ ...SMALL, stateDir });
    expect(uidOf(stack.postgres?.pid)).not.toBe('0');
  });

  test('and as root in a user namespace below a folder that is closed to others, where the data stay', async () => {
    const closed = join(temporaryDirectory(), 'closed');
    mkdirSync(closed, { mode: 0o700 });
    const stateDir = join(closed, 'state');
    const stack = await startTestStack({ ...SMALL, stateDir, profile: 'test' });
    expect(uidOf(stack.postgres?.pid)).toBe('0');
    expect(workingDirectory(stack.postgres?.pid ?? 0)).toBe(clusterDirectory(stateDir));
    expect(await query(stack, 'select 1')).toBe(1);
    await stack.kill('postgres');
    await stack.restart('postgres');
    expect(await query(stack, 'select 1')).toBe(1);
  });
});

const uidOf = (pid = 0): string | undefined => /^Uid:\t(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1];

import { mkdirSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { Client } from 'pg';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createDatabase, dropDatabase, ensureDatabase } from '#temporal-dev/servers/create-database.ts';
import type { PartName } from '#temporal-dev/machine/stack-environment.ts';
import { attachStack } from '#temporal-dev/stack/running-stack.ts';
import { startStack, type Stack } from '#temporal-dev/stack/start-stack.ts';
import { readState } from '#temporal-dev/servers/stack-state.ts';
import { stackStatus, statusTable } from '#temporal-dev/stack/stack-status.ts';
import { listeningAddresses } from './listening-addresses.ts';
import { ALL_TRACES, countWorkflows, findTraces, leaveTraces, query } from './stack-data.ts';
import { COLD_TIMEOUT_MS, makeDirectory, processesOf, rememberPorts } from './stack-fixture.ts';

const PARTS = ['postgres', 'temporal', 'openfga', 'redis'] as const satisfies PartName[];

// One stack for the whole file, as a person would use it over a day.
describe('a development stack in a folder with a space in its path', () => {
  const { path: stateDir, remove } = makeDirectory();
  const lines: string[] = [];
  let stack: Stack;
  const start = (): Promise<Stack> =>
    startStack({ stateDir, profile: 'development', redis: true, report: (line) => lines.push(line) });

  beforeAll(async () => {
    await rememberPorts(stateDir);
    // As a start that was killed in the middle of initdb leaves it.
    mkdirSync(join(stateDir, 'postgres.new-4711', 'data'), { recursive: true });
    stack = await start();
  }, COLD_TIMEOUT_MS);

  afterAll(async () => {
    await stack.stop();
    remove();
  });

  test('says of each server that it is ready', async () => {
    const status = await stackStatus(stateDir);
    expect(status.map(({ name, state }) => `${name} ${state}`)).toEqual([
      ...PARTS.map((name) => `${name} ready`),
      's3 stopped',
      'gcs stopped',
    ]);
    const rows = statusTable(status).split('\n');
    expect(rows).toHaveLength(7);
    expect(rows[2]).toMatch(
      /^temporal +ready +\d+ +127\.0\.0\.1:\d+, UI http:\/\/127\.0\.0\.1:\d+ +1\.\d+\.\d+ +\d+ MB/,
    );
  });

  test('listens on the loopback address only', () => {
    const addresses = processesOf(stateDir).flatMap(listeningAddresses);
    expect(addresses.length).toBeGreaterThan(6);
    expect(new Set(addresses)).toEqual(new Set(['127.0.0.1']));
  });

  test('wants the password for the database', async () => {
    const url = new URL(stack.postgres?.url('postgres') ?? '');
    url.password = 'guessed';
    const client = new Client({ connectionString: url.href });
    await expect(client.connect()).rejects.toThrow('password authentication failed');
  });

  test('makes databases, also from a template, and removes them with their connections', async () => {
    const url = stack.postgres?.url('postgres') ?? '';
    expect(await ensureDatabase(url, 'some "name"')).toBe(true);
    expect(await ensureDatabase(url, 'some "name"')).toBe(false);
    await createDatabase(url, 'a copy', 'some "name"');
    const client = new Client({ connectionString: stack.postgres?.url('a copy') });
    client.on('error', () => {});
    await client.connect();
    await dropDatabase(url, 'a copy');
    await dropDatabase(url, 'some "name"');
    expect(await query(stack, "select 1 from pg_database where datname like '%name%' or datname = 'a copy'")).toBe(0);
  });

  test('finds workflows by the search attributes', async () => {
    const { id } = await leaveTraces(stack, stateDir);
    await expect.poll(() => countWorkflows(stateDir, `RequestId = "${id}" and OrganizationId = "${id}"`)).toBe(1);
  });

  test('leaves no process when stopped, and has all data when started again on the same ports', async () => {
    const traces = await leaveTraces(stack, stateDir);
    const { ports } = readState(stateDir);
    await stack.stop();
    expect(processesOf(stateDir)).toEqual([]);
    stack = await start();
    expect(readState(stateDir).ports).toEqual(ports);
    expect(await findTraces(stack, stateDir, traces)).toEqual(ALL_TRACES);
  });

  test('says when a server ends that nobody stopped', async () => {
    lines.length = 0;
    await stack.kill('redis');
    await expect
      .poll(() => lines)
      .toContainEqual(expect.stringMatching(/^redis ended \(signal SIGKILL\); its log is .*redis\.log$/));
    await stack.restart('redis');
  });

  test.each(PARTS)('%s comes back after kill -9 with its data, on the same port, for any process', async (part) => {
    const traces = await leaveTraces(stack, stateDir);
    const elsewhere = attachStack(stateDir);
    const before = elsewhere[part]?.pid;
    await elsewhere.kill(part);
    expect((await stackStatus(stateDir)).find(({ name }) => name === part)?.state).toBe('dead');
    await elsewhere.restart(part);
    expect(elsewhere[part]?.pid).not.toBe(before);
    expect(readdirSync('/tmp').filter((name) => name.startsWith(`openfga-${before}-`))).toEqual([]);
    // OpenFGA may answer once more from a connection to the PostgreSQL that was killed.
    await expect.poll(() => findTraces(stack, stateDir, traces)).toEqual(ALL_TRACES);
  });

  test('PostgreSQL starts although children of the killed server still hold its memory', async () => {
    const client = new Client({ connectionString: stack.postgres?.url('postgres') });
    client.on('error', () => {});
    await client.connect();
    // A busy backend does not notice that its server is gone.
    const busy = client.query('select count(*) from generate_series(1, 1000000000)').catch(() => {});
    await sleep(100);
    await stack.kill('postgres');
    await stack.restart('postgres');
    expect(await query(stack, 'select 1')).toBe(1);
    await busy;
  });
});

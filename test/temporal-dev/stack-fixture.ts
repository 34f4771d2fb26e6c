import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, onTestFinished } from 'vitest';
import { PORT_NAMES, readStackEnvironment } from '#temporal-dev/machine/stack-environment.ts';
import { MEMBER_VARIABLE } from '#temporal-dev/machine/helper-process.ts';
import { claimPort, type PortClaim, type Ports } from '#temporal-dev/machine/ports.ts';
import { findProcesses, hasEnvironment, workingDirectory } from '#temporal-dev/machine/process-table.ts';
import { startStack, stopStack, type Stack, type StackOptions } from '#temporal-dev/stack/start-stack.ts';
import { readState, writeState } from '#temporal-dev/servers/stack-state.ts';

/** Fetching the servers on an empty machine may take this long, ms; with a filled cache nothing here comes near it. */
export const COLD_TIMEOUT_MS = 20 * 60_000;

/** An empty folder with a space in its path that everybody may enter; `remove` it in the end. */
export function makeDirectory(): { path: string; remove: () => void } {
  const path = mkdtempSync(join(tmpdir(), 'core server '));
  chmodSync(path, 0o755);
  return {
    path,
    remove: () => {
      rmSync(path, { recursive: true, force: true });
    },
  };
}

/** Such a folder for one test. */
export function temporaryDirectory(): string {
  const { path, remove } = makeDirectory();
  onTestFinished(remove);
  return path;
}

/**
 * For the tests of a file: makes state folders that hold a fresh PostgreSQL, copied from one made once, in a fifth of the
 * time of initdb. After its test a folder's servers are stopped, whoever started them, and it is removed.
 */
export function useStateDirectories(): () => Promise<string> {
  const template = makeDirectory();
  beforeAll(async () => {
    const options = {
      stateDir: template.path,
      profile: 'test',
      without: ['temporal', 'openfga'],
      report: () => {},
    } as const;
    await (await startStack(options)).stop();
  });
  afterAll(template.remove);
  return async () => {
    const { path, remove } = makeDirectory();
    onTestFinished(async () => {
      await stopStack(path, () => {});
      remove();
    });
    execFileSync('cp', ['-a', join(template.path, 'postgres'), path]);
    await rememberPorts(path);
    return path;
  };
}

/** Lets a development stack in this folder leave the familiar ports to the person whose machine this is. */
export async function rememberPorts(stateDir: string): Promise<void> {
  const environment = readStackEnvironment({}, stateDir);
  const ports: Ports = {};
  const claims: PortClaim[] = [];
  for (const name of PORT_NAMES) {
    const claim = await claimPort({ name, report: () => {} }, { stateDir, environment, shouldUseDefaultPorts: false });
    claims.push(claim);
    ports[name] = claim.port;
  }
  await Promise.all(claims.map(({ release }) => release()));
  writeState(stateDir, { ...readState(stateDir), ports });
}

/** Starts a stack that is stopped after the test. */
export async function startTestStack(options: Partial<StackOptions> & { stateDir: string }): Promise<Stack> {
  const stack = await startStack({ profile: 'development', report: () => {}, ...options });
  onTestFinished(() => stack.stop());
  return stack;
}

/** The numbers of all processes that work for a state folder. */
export function processesOf(stateDir: string): number[] {
  return findProcesses(
    (pid) =>
      hasEnvironment(pid, MEMBER_VARIABLE, stateDir) || workingDirectory(pid)?.startsWith(`${stateDir}/`) === true,
  ).map(({ pid }) => pid);
}

/** A stack of PostgreSQL and Redis, for tests that are not about the others. */
export const SMALL = { without: ['temporal', 'openfga'] as const, redis: true };

/** A process that owns a stack; without Temporal and OpenFGA unless `isWhole`. */
export async function ownerOf(stateDir: string, isWhole = false): Promise<{ pid: number; kill: () => Promise<void> }> {
  const program = fileURLToPath(new URL('stack-owner.ts', import.meta.url));
  const child = spawn(process.execPath, [program, stateDir, ...(isWhole ? [] : SMALL.without)], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const kill = async (): Promise<void> => {
    if (child.exitCode !== null || child.signalCode !== null) return;
    child.kill('SIGKILL');
    await once(child, 'exit');
  };
  onTestFinished(kill);
  await once(child.stdout, 'data');
  return { pid: child.pid ?? 0, kill };
}

import { spawn } from 'node:child_process';
import { existsSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import type { ReadyFacts } from '#temporal-dev/product/ready-block.ts';

export interface MeasuredStart {
  /** From the command to a product that says ready, in milliseconds. */
  readonly readyMs: number;
  /** From Ctrl-C to the end of the command. */
  readonly stopMs: number;
  /** Resident memory of each process ten seconds after ready, in megabytes. */
  readonly memoryMb: Readonly<Record<string, number>>;
}

/** Runs `npm start` as a person would, waits until it is ready, and presses Ctrl-C. */
export async function measureStart(
  root: string,
  environment: Readonly<Record<string, string>>,
  timeoutMs: number,
): Promise<MeasuredStart> {
  const readyFile = join(environment['STACK_STATE_DIR'] ?? join(root, '.local'), 'ready.json');
  rmSync(readyFile, { force: true });
  const startedAt = performance.now();
  const child = spawn('npm', ['start'], {
    cwd: root,
    env: environment,
    detached: true,
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  const ended = new Promise<void>((resolve) => child.once('exit', () => resolve()));
  while (!existsSync(readyFile)) {
    if (child.exitCode !== null || performance.now() - startedAt > timeoutMs)
      throw new Error('npm start did not get ready');
    await pause(20);
  }
  const readyMs = performance.now() - startedAt;
  await pause(10_000);
  const facts = JSON.parse(readFileSync(readyFile, 'utf8')) as ReadyFacts;
  const memoryMb = Object.fromEntries(Object.entries(facts.pids).map(([name, pid]) => [name, residentMb(pid)]));
  const stopAt = performance.now();
  process.kill(-(child.pid as number), 'SIGINT');
  await ended;
  return { readyMs, stopMs: performance.now() - stopAt, memoryMb };
}

function residentMb(pid: number): number {
  const [, kilobytes = '0'] = /^VmRSS:\s+(\d+) kB/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8')) ?? [];
  return Number(kilobytes) / 1_024;
}

import { createHash } from 'node:crypto';
import { createConnection, createServer } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { codeOf, StackError } from './stack-error.ts';

/** A lock that is held until `release`, or until this process ends in any way. */
export interface MachineLock {
  release(): Promise<void>;
}

/**
 * The name of a lock: what it protects, and in which folder. Two clones of the project have different folders, so they
 * never wait for each other.
 */
export function machineLockName(subject: string, path = ''): string {
  const digest = createHash('sha256').update(path).digest('hex').slice(0, 24);
  return `core-server/${subject}${path === '' ? '' : `/${digest}`}`;
}

/**
 * Acquires a lock if no other process on this machine holds it; else resolves with undefined.
 *
 * The lock is a listening socket in Linux's abstract namespace. The kernel gives it to one process and releases it when
 * that process ends, so a killed process leaves no stale lock, as a lock file would. Waiting processes show `purpose`.
 */
export async function tryMachineLock(name: string, purpose: string): Promise<MachineLock | undefined> {
  const server = createServer((socket) => {
    // A waiting process may disconnect before it has read the answer.
    socket.on('error', () => socket.destroy());
    socket.end(`process ${process.pid} is ${purpose}`);
    socket.destroySoon();
  });
  try {
    await new Promise<void>((resolve, reject) => {
      server.once('error', reject);
      server.listen(`\0${name}`, resolve);
    });
  } catch (error) {
    if (codeOf(error) === 'EADDRINUSE') return undefined;
    throw error;
  }
  return {
    release: () =>
      new Promise((resolve) => {
        server.close(() => {
          resolve();
        });
      }),
  };
}

/** Runs `action` while holding the lock `name`. Waits at most `waitMs` for the lock and reports once which process holds it. */
export async function withMachineLock<T>(
  name: string,
  options: { purpose: string; waitMs: number; report: (line: string) => void },
  action: () => Promise<T>,
): Promise<T> {
  const deadline = Date.now() + options.waitMs;
  let hasReported = false;
  let lock = await tryMachineLock(name, options.purpose);
  while (lock === undefined) {
    const holder = await holderOf(name);
    if (holder !== undefined) {
      if (Date.now() > deadline) {
        throw new StackError(
          `${holder} and did not finish within ${Math.round(options.waitMs / 1000)} s: stop it first`,
        );
      }
      if (!hasReported) options.report(`waiting: ${holder}`);
      hasReported = true;
      await sleep(100);
    }
    lock = await tryMachineLock(name, options.purpose);
  }
  try {
    return await action();
  } finally {
    await lock.release();
  }
}

/** Description of the process that holds the lock; undefined when no process holds it any more. */
function holderOf(name: string): Promise<string | undefined> {
  return new Promise((resolve) => {
    let text = '';
    const socket = createConnection(`\0${name}`);
    socket.setTimeout(1000, () => socket.destroy());
    socket.on('data', (chunk) => (text += chunk.toString()));
    socket.on('error', () => {
      resolve(undefined);
    });
    // A process that is too busy to answer still holds the lock.
    socket.on('close', (hadError) => {
      resolve(hadError ? undefined : text || 'another process holds the lock');
    });
  });
}

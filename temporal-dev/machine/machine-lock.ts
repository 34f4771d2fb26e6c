import { createHash } from 'node:crypto';
import { createConnection, createServer } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { codeOf, StackError } from './stack-error.ts';

/** Held until `release` or the end of this process, however it ends. */
export interface MachineLock {
  release(): Promise<void>;
}

/**
 * The name of an exclusive right: what is protected and for which folder. Two clones have different folders and so
 * never wait for each other.
 */
export function machineLockName(subject: string, path = ''): string {
  const digest = createHash('sha256').update(path).digest('hex').slice(0, 24);
  return `core-server/${subject}${path === '' ? '' : `/${digest}`}`;
}

/**
 * Takes an exclusive right if nobody on this machine has it.
 *
 * The right is a listening socket in Linux's abstract namespace: the kernel hands it to exactly one process and takes it
 * back when that process ends, so a killed holder leaves nothing stale behind, which no lock file can promise.
 * `purpose` is told to whoever has to wait.
 */
export async function tryMachineLock(name: string, purpose: string): Promise<MachineLock | undefined> {
  const server = createServer((socket) => {
    // A waiting process that goes away mid-sentence is not our concern.
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

/** Runs `action` with the exclusive right to `name`, waiting at most `waitMs` for it; says once for whom it waits. */
export async function withMachineLock<T>(
  name: string,
  options: { purpose: string; waitMs: number; report: (line: string) => void },
  action: () => Promise<T>,
): Promise<T> {
  const deadline = Date.now() + options.waitMs;
  let hasReported = false;
  let right = await tryMachineLock(name, options.purpose);
  while (right === undefined) {
    const holder = await holderOf(name);
    if (holder !== undefined) {
      if (Date.now() > deadline) {
        throw new StackError(
          `${holder} and did not finish within ${Math.round(options.waitMs / 1000)} s: end it first`,
        );
      }
      if (!hasReported) options.report(`waiting: ${holder}`);
      hasReported = true;
      await sleep(100);
    }
    right = await tryMachineLock(name, options.purpose);
  }
  try {
    return await action();
  } finally {
    await right.release();
  }
}

/** What the holder of `name` says about itself; undefined when there is no holder any more. */
function holderOf(name: string): Promise<string | undefined> {
  return new Promise((resolve) => {
    let text = '';
    const socket = createConnection(`\0${name}`);
    socket.setTimeout(1000, () => socket.destroy());
    socket.on('data', (chunk) => (text += chunk.toString()));
    socket.on('error', () => {
      resolve(undefined);
    });
    // A holder that is too busy to answer is still a holder.
    socket.on('close', (hadError) => {
      resolve(hadError ? undefined : text || 'another process holds the lock');
    });
  });
}

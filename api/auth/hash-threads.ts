import { readdirSync, readFileSync } from 'node:fs';
import { constants, getPriority, setPriority } from 'node:os';

/** Levels by which hashing is below the process. A level costs about a tenth of the share of a processor. */
const step = 10;

/**
 * Makes the threads that hash passwords give way to all others: a hash takes 40 ms of a processor, and sign-ins that come one after the
 * other would make every request wait. Linux has a priority for each thread, which a process may lower. Elsewhere nothing happens.
 */
export function giveWayToRequests(): void {
  if (process.platform !== 'linux') return;
  // Relative to that of the process, which only a privileged one could undercut.
  const low = Math.min(getPriority() + step, constants.priority.PRIORITY_LOW);
  for (const thread of readdirSync('/proc/self/task'))
    if (nameOf(thread) === 'libuv-worker') setPriority(Number(thread), low);
}

/** Empty for a thread that has ended meanwhile. */
function nameOf(thread: string): string {
  try {
    return readFileSync(`/proc/self/task/${thread}/comm`, 'utf8').trim();
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT' || (error as NodeJS.ErrnoException).code === 'ESRCH')
      return '';
    throw error;
  }
}

import { spawn } from 'node:child_process';
import { closeSync, openSync } from 'node:fs';
import { Socket } from 'node:net';
import { fileURLToPath } from 'node:url';
import { identifySelf } from '../machine/process-table.ts';
import { logFile } from '../servers/stack-state.ts';

/** Ends the watch without stopping anything. */
export interface Watchdog {
  dismiss(): void;
}

const STOP_ORPHANS = fileURLToPath(new URL('../stop-orphans-main.ts', import.meta.url));

/**
 * Watches over this process: when it ends in whatever way, SIGKILL included, the servers it owns are stopped in order.
 *
 * A shell waits on a pipe of which this process holds the other end; the kernel closes it with the process, and only then
 * does the shell become a Node process that does the work. Until then the watch costs one megabyte.
 */
export function startWatchdog(stateDir: string): Watchdog {
  const log = openSync(logFile(stateDir, 'watchdog'), 'a', 0o600);
  const { pid, startTime, boot } = identifySelf();
  const args = [process.execPath, STOP_ORPHANS, stateDir, String(pid), startTime, boot];
  const shell = spawn('sh', ['-c', 'read -r _; exec "$0" "$@"', ...args], {
    stdio: ['pipe', log, log],
    detached: true,
    env: { PATH: '/usr/bin:/bin' },
  });
  closeSync(log);
  // Neither the shell nor the pipe is a reason for this process to stay.
  shell.unref();
  if (shell.stdin instanceof Socket) shell.stdin.unref();
  return {
    dismiss() {
      shell.kill();
    },
  };
}

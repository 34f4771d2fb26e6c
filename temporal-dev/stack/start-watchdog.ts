import { spawn } from 'node:child_process';
import { closeSync, openSync } from 'node:fs';
import { Socket } from 'node:net';
import { fileURLToPath } from 'node:url';
import { identifySelf } from '../machine/process-table.ts';
import { logFile } from '../servers/stack-state.ts';

/** Watches this process. `dismiss` ends the watch without stopping the servers. */
interface Watchdog {
  dismiss(): void;
}

const STOP_ORPHANS = fileURLToPath(new URL('../stop-orphans-main.ts', import.meta.url));

/**
 * Stops the servers that this process owns when this process ends in any way, including SIGKILL.
 *
 * A shell reads from a pipe to this process. When this process ends, the kernel closes the pipe, and the shell runs a Node
 * program that stops the servers. Until then the watchdog needs one megabyte of memory.
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
  // Neither the shell nor the pipe keeps this process alive.
  shell.unref();
  if (shell.stdin instanceof Socket) shell.stdin.unref();
  return {
    dismiss() {
      shell.kill();
    },
  };
}

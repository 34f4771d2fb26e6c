import { spawn, type ChildProcess } from 'node:child_process';
import { closeSync } from 'node:fs';
import { StackError } from '../machine/stack-error.ts';
import { logFrom, logSize, openLog } from '../servers/server-log.ts';
import { logFile } from '../servers/stack-state.ts';

export interface ManagedProcessOptions {
  /** `api` or `worker`; also the name of the log. */
  readonly name: string;
  /** Path of the program below `root`. */
  readonly program: string;
  readonly root: string;
  readonly stateDir: string;
  readonly environment: Readonly<Record<string, string>>;
  readonly args?: readonly string[];
}

/** The API or the worker as a child process of `npm start`, with its own log. */
export class ManagedProcess {
  readonly name: string;
  readonly ready: Promise<void>;
  /** Resolves with the exit code or signal when the process ends. */
  readonly ended: Promise<string>;
  readonly #child: ChildProcess;

  constructor({ name, program, root, stateDir, environment, args = [] }: ManagedProcessOptions) {
    this.name = name;
    const path = logFile(stateDir, name);
    const log = openLog(path);
    const offset = logSize(path);
    this.#child = spawn(process.execPath, [program, ...args], {
      cwd: root,
      env: environment,
      // In its own session: Ctrl-C reaches only `npm start`, which stops the processes in order.
      detached: true,
      stdio: ['ignore', log, log, 'ipc'],
    });
    closeSync(log);
    this.ended = new Promise((resolve) => {
      this.#child.once('exit', (code, signal) => resolve(signal === null ? `exit code ${code}` : `signal ${signal}`));
    });
    this.ready = new Promise((resolve, reject) => {
      this.#child.once('message', () => resolve());
      this.#child.once('error', reject);
      void this.ended.then((how) =>
        reject(new StackError(`the ${name} process ended during its start (${how}):\n${tailOf(path, offset)}`)),
      );
    });
    // The caller awaits `ready` later and handles its rejection.
    this.ready.catch(() => {});
  }

  get pid(): number {
    return this.#child.pid ?? 0;
  }

  /** Stops the process with SIGTERM, and with SIGKILL after `timeoutMs`. Returns when it has ended. */
  async stop(timeoutMs: number): Promise<void> {
    if (this.#child.exitCode !== null || this.#child.signalCode !== null) return;
    this.#child.kill('SIGTERM');
    const timer = setTimeout(() => this.#child.kill('SIGKILL'), timeoutMs);
    await this.ended;
    clearTimeout(timer);
  }
}

/** The last lines of a log after `offset` for an error message; of a JSON line, only level and message. */
function tailOf(path: string, offset: number, lines = 12): string {
  return logFrom(path, offset)
    .trimEnd()
    .split('\n')
    .slice(-lines)
    .map((line) => `  ${messageOf(line)}`)
    .join('\n');
}

/** A log line for people: level and message of a JSON line. */
export function messageOf(line: string): string {
  try {
    const { level, msg, err } = JSON.parse(line) as { level?: string; msg?: string; err?: { message?: string } };
    return `${level ?? ''}: ${msg ?? ''}${err?.message && err.message !== msg ? ` (${err.message})` : ''}`;
  } catch {
    return line;
  }
}

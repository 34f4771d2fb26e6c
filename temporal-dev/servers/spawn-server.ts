import { spawn, type ChildProcess } from 'node:child_process';
import { closeSync, fstatSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import type { PartName } from '../machine/stack-environment.ts';
import { MEMBER_VARIABLE } from '../machine/helper-process.ts';
import { identify, isAlive, type ProcessIdentity } from '../machine/process-table.ts';
import { logFrom, openLog } from './server-log.ts';
import { codeOf, DiskFullError, messageOf, saysDiskFull, StackError } from '../machine/stack-error.ts';

/** Everything that is needed to start a server, also later from another process. */
export interface Launch {
  part: PartName;
  command: string;
  args: string[];
  env: Record<string, string>;
  /** Written to the standard input of the server; for values that the process list must not show. */
  input?: string;
  cwd: string;
  logFile: string;
  stateDir: string;
  uid?: number;
  gid?: number;
}

export interface ServerProcess {
  identity: ProcessIdentity;
  /** Resolves with the exit code or signal when the server ends while this process runs. */
  ended: Promise<string>;
}

/**
 * Starts a server in its own session. Ctrl-C in the terminal then reaches only the process that started the stack, which
 * stops the servers in order.
 */
export async function spawnServer(launch: Launch): Promise<ServerProcess> {
  const log = openLog(launch.logFile);
  const logOffset = fstatSync(log).size;
  try {
    const child = spawn(launch.command, launch.args, {
      cwd: launch.cwd,
      env: { ...launch.env, [MEMBER_VARIABLE]: launch.stateDir },
      detached: true,
      stdio: [launch.input === undefined ? 'ignore' : 'pipe', log, log],
      ...(launch.uid === undefined ? {} : { uid: launch.uid, gid: launch.gid }),
    });
    const ended = watchEnd(child);
    await new Promise<void>((resolve, reject) => {
      child.once('spawn', resolve);
      child.once('error', reject);
    });
    // The server may end before it has read its input. That error is reported by its exit.
    child.stdin?.on('error', () => {}).end(launch.input);
    child.unref();
    const identity = child.pid === undefined ? undefined : identify(child.pid);
    if (identity === undefined)
      throw new StackError(`${launch.part} did not start (${await ended})${logTail(launch, logOffset)}`);
    return { identity, ended };
  } catch (error) {
    if (codeOf(error) === 'ENOENT' || codeOf(error) === 'EACCES') {
      throw new StackError(`cannot run ${launch.command}: ${messageOf(error)}`, { cause: error });
    }
    throw error;
  } finally {
    closeSync(log);
  }
}

function watchEnd(child: ChildProcess): Promise<string> {
  return new Promise((resolve) => {
    child.once('exit', (code, signal) => {
      resolve(signal === null ? `exit code ${code}` : `signal ${signal}`);
    });
  });
}

/**
 * Waits until `isReady` is true. Throws a StackError with the end of the log when the server ends first or is not ready
 * within `timeoutMs`.
 */
export async function waitUntilReady(
  server: ServerProcess,
  launch: Launch,
  options: { isReady: () => Promise<boolean>; timeoutMs: number; logOffset: number },
): Promise<void> {
  const deadline = Date.now() + options.timeoutMs;
  let end: string | undefined;
  void server.ended.then((how) => (end = how));
  for (let pauseMs = 10; ; pauseMs = Math.min(pauseMs * 1.5, 100)) {
    const isReady = await options.isReady();
    // Checked even when it responds: the response could come from another process on the port.
    if (end !== undefined || !isAlive(server.identity)) {
      // Node reports the end a moment later than the kernel.
      end ??= await Promise.race([server.ended, sleep(500, 'it ended')]);
      throw new StackError(`${launch.part} did not start (${end})${logTail(launch, options.logOffset)}`);
    }
    if (isReady) return;
    if (Date.now() > deadline) {
      throw new StackError(
        `${launch.part} was not ready after ${options.timeoutMs / 1000} s${logTail(launch, options.logOffset)}`,
      );
    }
    await sleep(pauseMs);
  }
}

function logTail(launch: Launch, offset: number): string {
  const text = logFrom(launch.logFile, offset);
  if (saysDiskFull(text)) throw new DiskFullError(launch.stateDir);
  const lines = text.trim().split('\n').slice(-5);
  return `: the end of ${launch.logFile}:\n${lines.map((line) => `  ${line.slice(0, 300)}`).join('\n')}`;
}

/** Ends a process with `signal`, and with SIGKILL after `graceMs`. Returns when the process has ended. */
export async function stopProcess(identity: ProcessIdentity, signal: NodeJS.Signals, graceMs: number): Promise<void> {
  if (!sendSignal(identity, signal) || (await isGoneWithin(identity, graceMs))) return;
  sendSignal(identity, 'SIGKILL');
  if (await isGoneWithin(identity, 10_000)) return;
  throw new StackError(`process ${identity.pid} did not end after SIGKILL: it hangs in the kernel`);
}

/** Sends a signal to the recorded process, and never to another one with its pid. False when it has ended. */
function sendSignal(identity: ProcessIdentity, signal: NodeJS.Signals): boolean {
  if (!isAlive(identity)) return false;
  try {
    return process.kill(identity.pid, signal);
  } catch (error) {
    if (codeOf(error) === 'ESRCH') return false;
    if (codeOf(error) === 'EPERM') {
      throw new StackError(`process ${identity.pid} belongs to another user: stop it as that user`, { cause: error });
    }
    throw error;
  }
}

async function isGoneWithin(identity: ProcessIdentity, ms: number): Promise<boolean> {
  const deadline = Date.now() + ms;
  for (let pauseMs = 5; isAlive(identity); pauseMs = Math.min(pauseMs * 1.5, 50)) {
    if (Date.now() > deadline) return false;
    await sleep(pauseMs);
  }
  return true;
}

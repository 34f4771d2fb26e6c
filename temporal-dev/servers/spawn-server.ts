import { spawn, type ChildProcess } from 'node:child_process';
import { closeSync, fstatSync, openSync, readFileSync, renameSync, statSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import type { PartName } from '../machine/stack-environment.ts';
import { MEMBER_VARIABLE } from '../machine/helper-process.ts';
import { identify, isAlive, type ProcessIdentity } from '../machine/process-table.ts';
import {
  codeOf,
  DiskFullError,
  explainFileError,
  messageOf,
  saysDiskFull,
  StackError,
} from '../machine/stack-error.ts';

/** All that is needed to start a server, now or again later from another process. */
export interface Launch {
  part: PartName;
  command: string;
  args: string[];
  env: Record<string, string>;
  /** Written to the server's standard input; used for what must not show in the process list. */
  input?: string;
  cwd: string;
  logFile: string;
  stateDir: string;
  uid?: number;
  gid?: number;
}

export interface ServerProcess {
  identity: ProcessIdentity;
  /** Resolves with how the server ended, if it ends while this process watches. */
  ended: Promise<string>;
}

const MAX_LOG_BYTES = 32 * 1024 * 1024;

/**
 * Starts a server in a session of its own: a Ctrl-C in the terminal reaches whoever started the stack, which then stops
 * the servers in order, instead of all of them at once.
 */
export async function spawnServer(launch: Launch): Promise<ServerProcess> {
  const log = openLog(launch.logFile);
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
    // The server may end before it has read its input; how it ended is what counts then.
    child.stdin?.on('error', () => {}).end(launch.input);
    child.unref();
    const identity = child.pid === undefined ? undefined : identify(child.pid);
    if (identity === undefined)
      throw new StackError(`${launch.part} ended at once (${await ended})${logTail(launch, 0)}`);
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

function openLog(path: string): number {
  try {
    if (logSize(path) > MAX_LOG_BYTES) renameSync(path, `${path}.old`);
    return openSync(path, 'a', 0o600);
  } catch (error) {
    throw explainFileError(error, path);
  }
}

/** The size of a log so far, to tell later what was added; 0 when there is none. */
export function logSize(path: string): number {
  return statSync(path, { throwIfNoEntry: false })?.size ?? 0;
}

/**
 * Waits until `isReady` says so. Throws a StackError with the end of the log when the server ends first or does not get
 * ready within `timeoutMs`.
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
    // Asked even of one that answers: it could be a stranger on the port that ours did not get.
    if (end !== undefined || !isAlive(server.identity)) {
      // The kernel knows a moment before Node does.
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
  const text = readFrom(launch.logFile, offset);
  if (saysDiskFull(text)) throw new DiskFullError(launch.stateDir);
  const lines = text.trim().split('\n').slice(-5);
  return `: the end of ${launch.logFile}:\n${lines.map((line) => `  ${line.slice(0, 300)}`).join('\n')}`;
}

function readFrom(path: string, offset: number): string {
  const descriptor = openSync(path, 'r');
  try {
    if (fstatSync(descriptor).size < offset) return '';
    return readFileSync(descriptor).subarray(offset).toString();
  } finally {
    closeSync(descriptor);
  }
}

/** Asks a process to end with `signal`, and after `graceMs` makes it. Returns when it is gone. */
export async function stopProcess(identity: ProcessIdentity, signal: NodeJS.Signals, graceMs: number): Promise<void> {
  if (!sendSignal(identity, signal) || (await isGoneWithin(identity, graceMs))) return;
  sendSignal(identity, 'SIGKILL');
  if (await isGoneWithin(identity, 10_000)) return;
  throw new StackError(`process ${identity.pid} does not end, not even by SIGKILL: it hangs in the kernel`);
}

/** Sends a signal to the recorded process and to no other. False when it is gone. */
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

import {
  accessSync,
  constants,
  mkdirSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { join, resolve } from 'node:path';
import type { PartName, PortName } from '../machine/stack-environment.ts';
import type { ProcessIdentity } from '../machine/process-table.ts';
import type { Launch } from './spawn-server.ts';
import { codeOf, DiskFullError, explainFileError, freeBytes } from '../machine/stack-error.ts';

/** A server that was started, with what is needed to find it, to stop it and to start it again. */
export interface PartRecord {
  identity: ProcessIdentity;
  /** The process the server belongs to and ends with; null when it runs in the background. */
  owner: ProcessIdentity | null;
  launch: Launch;
  ports: Partial<Record<PortName, number>>;
  version: string;
  /** Where the binary came from. */
  route: string;
  startedAt: string;
}

/** What a state folder knows about its servers. */
export interface StackState {
  ports: Partial<Record<PortName, number>>;
  parts: Partial<Record<PartName, PartRecord>>;
  redisPassword?: string;
}

/**
 * The one name of a state folder. The kernel tells where a server works by the real path, and two names for one folder
 * would be two locks.
 */
export function realStateDirectory(stateDir: string): string {
  try {
    return realpathSync(stateDir);
  } catch {
    return resolve(stateDir); // Not there yet: then there is nothing in it to be found.
  }
}

/** The folder of one server's data below the state folder. */
export function dataDirectory(stateDir: string, part: PartName): string {
  return join(stateDir, part);
}

export function logFile(stateDir: string, name: string): string {
  return join(stateDir, 'logs', `${name}.log`);
}

/** Less than this and no server would get far, bytes. */
const NEEDED_BYTES = 100 * 1024 * 1024;

/** Makes the state folder, or says in one line why it cannot be used. */
export function prepareStateDirectory(stateDir: string): void {
  try {
    mkdirSync(join(stateDir, 'logs'), { recursive: true });
    for (const path of [stateDir, join(stateDir, 'logs')]) accessSync(path, constants.W_OK);
  } catch (error) {
    throw explainFileError(error, stateDir);
  }
  if (freeBytes(stateDir) < NEEDED_BYTES) throw new DiskFullError(stateDir);
}

/** Removes a folder of data if there is one. Throws a StackError when it may not. */
export function removeDirectory(path: string): void {
  try {
    rmSync(path, { recursive: true, force: true });
  } catch (error) {
    throw explainFileError(error, path);
  }
}

/** The recorded state; an empty one when there is none or it cannot be read, since everything in it can be found anew. */
export function readState(stateDir: string): StackState {
  try {
    const state: unknown = JSON.parse(readFileSync(stateFile(stateDir), 'utf8'));
    if (isState(state)) return state;
  } catch (error) {
    if (!(error instanceof SyntaxError) && codeOf(error) !== 'ENOENT') throw explainFileError(error, stateDir);
  }
  return { ports: {}, parts: {} };
}

/** Records the state so that a crash leaves the old one or the new one. Readable by the owner only: it holds passwords. */
export function writeState(stateDir: string, state: StackState): void {
  const temporary = `${stateFile(stateDir)}.new`;
  try {
    writeFileSync(temporary, `${JSON.stringify(state, undefined, 2)}\n`, { mode: 0o600 });
    renameSync(temporary, stateFile(stateDir));
  } catch (error) {
    throw explainFileError(error, stateDir);
  }
}

function stateFile(stateDir: string): string {
  return join(stateDir, 'stack.json');
}

function isState(value: unknown): value is StackState {
  return typeof value === 'object' && value !== null && 'ports' in value && 'parts' in value;
}

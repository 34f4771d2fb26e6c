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

/** A started server, with everything needed to find, stop and restart it. */
export interface PartRecord {
  identity: ProcessIdentity;
  /** The process that owns the server; the server ends with it. Null when the server runs in the background. */
  owner: ProcessIdentity | null;
  launch: Launch;
  ports: Partial<Record<PortName, number>>;
  version: string;
  /** Where the binary came from. */
  route: string;
  startedAt: string;
}

/** The record of the servers of a state folder. */
export interface StackState {
  ports: Partial<Record<PortName, number>>;
  parts: Partial<Record<PartName, PartRecord>>;
  redisPassword?: string;
}

/**
 * The real path of a state folder. The kernel reports working directories by their real path, and two paths of one folder
 * would be two locks.
 */
export function realStateDirectory(stateDir: string): string {
  try {
    return realpathSync(stateDir);
  } catch {
    return resolve(stateDir); // The folder does not exist yet.
  }
}

/** The data folder of a server below the state folder. */
export function dataDirectory(stateDir: string, part: PartName): string {
  return join(stateDir, part);
}

export function logFile(stateDir: string, name: string): string {
  return join(stateDir, 'logs', `${name}.log`);
}

/** Minimum free disk space for a start, bytes. */
const NEEDED_BYTES = 100 * 1024 * 1024;

/** Creates the state folder. Throws a StackError when it cannot be used. */
export function prepareStateDirectory(stateDir: string): void {
  try {
    mkdirSync(join(stateDir, 'logs'), { recursive: true });
    for (const path of [stateDir, join(stateDir, 'logs')]) accessSync(path, constants.W_OK);
  } catch (error) {
    throw explainFileError(error, stateDir);
  }
  if (freeBytes(stateDir) < NEEDED_BYTES) throw new DiskFullError(stateDir);
}

/** Deletes a data folder if it exists. Throws a StackError when that is not permitted. */
export function removeDirectory(path: string): void {
  try {
    rmSync(path, { recursive: true, force: true });
  } catch (error) {
    throw explainFileError(error, path);
  }
}

/** The recorded state. It is empty when there is none or it is damaged, because everything in it can be found again. */
export function readState(stateDir: string): StackState {
  try {
    const state: unknown = JSON.parse(readFileSync(stateFile(stateDir), 'utf8'));
    if (isState(state)) return state;
  } catch (error) {
    if (!(error instanceof SyntaxError) && codeOf(error) !== 'ENOENT') throw explainFileError(error, stateDir);
  }
  return { ports: {}, parts: {} };
}

/** Writes the state atomically. The file is readable by its owner only, because it contains passwords. */
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

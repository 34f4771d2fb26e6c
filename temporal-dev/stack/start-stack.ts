import {
  OPTIONAL_PARTS,
  PART_NAMES,
  readStackEnvironment,
  type OptionalPart,
  type PartName,
  type Variables,
} from '../machine/stack-environment.ts';
import { currentPlatform } from '../machine/platform.ts';
import type { Profile } from '../servers/launch-postgres.ts';
import {
  describeProcess,
  identifySelf,
  isAlive,
  isSameProcess,
  type ProcessIdentity,
} from '../machine/process-table.ts';
import type { Report } from '../machine/progress-report.ts';
import { describeStack, type RunningStack } from './running-stack.ts';
import { StackError } from '../machine/stack-error.ts';
import { findBinaries, startServers, type StartSession } from './start-servers.ts';
import {
  dataDirectory,
  logFile,
  prepareStateDirectory,
  readState,
  realStateDirectory,
  removeDirectory,
  writeState,
  type PartRecord,
  type StackState,
} from '../servers/stack-state.ts';
import { stopParts, stopUnrecorded, withStackLock } from './run-server.ts';
import { startWatchdog } from './start-watchdog.ts';

export interface StackOptions {
  /** Absolute path of the folder into which the servers write. */
  stateDir: string;
  /** `development` keeps its data. `test` starts empty and fast, and can run beside a development stack of the same clone. */
  profile: Profile;
  /** Also starts Redis or Valkey. */
  redis?: boolean;
  /** Also starts a server with the interface of S3. */
  s3?: boolean;
  /** Also starts an emulator of Google Cloud Storage. */
  gcs?: boolean;
  /** Parts that are not started, because the user configured other servers. Without PostgreSQL, OpenFGA stores its data in a file. */
  without?: readonly Exclude<PartName, OptionalPart>[];
  /** Temporal namespaces to create in addition to `default`, with the same search attributes. */
  namespaces?: readonly string[];
  /** URL of the codec server that decrypts payloads for the Temporal UI. */
  uiCodecEndpoint?: string | undefined;
  report: Report;
  /** The servers keep running when this process ends. Otherwise they end with it, however it ends. */
  detached?: boolean;
  /** Aborts the start, including downloads and builds. */
  signal?: AbortSignal;
  /** Called when a server ends by itself. By default, this is reported. */
  onEnd?: (part: PartName, how: string) => void;
  /** Used instead of the environment of this process. */
  variables?: Variables;
}

/** The stack of the process that started it. */
export interface Stack extends RunningStack {
  /** Stops the servers that this process started and returns when they have ended. Servers that already ran are not stopped. */
  stop(): Promise<void>;
}

/**
 * Starts the local servers and returns when all are ready. Cleans up after an earlier run that was killed. Servers that
 * already run in the background with the same settings are used.
 * Throws a StackError when the user has to fix something; then no server that it started is left running.
 */
export async function startStack(options: StackOptions): Promise<Stack> {
  prepareStateDirectory(options.stateDir);
  const stateDir = realStateDirectory(options.stateDir);
  const variables = options.variables ?? process.env;
  const session = {
    ...options,
    stateDir,
    platform: currentPlatform(),
    environment: readStackEnvironment(variables, stateDir),
    namespaces: options.namespaces ?? [],
    owner: identifySelf(),
    signal: options.signal ?? new AbortController().signal,
  };
  const lock = { purpose: `starting the servers in ${stateDir}`, report: options.report };
  return await withStackLock(stateDir, lock, () => start(options, session));
}

async function start(options: StackOptions, base: Omit<StartSession, 'state' | 'onEnd'>): Promise<Stack> {
  const { stateDir, owner, profile } = base;
  const state = readState(stateDir);
  refuseForeign(stateDir, state, owner);
  let isStopping = false;
  const session: StartSession = {
    ...base,
    state,
    onEnd: (part, how) => {
      if (isStopping) return;
      if (options.onEnd === undefined) options.report(`${part} ended (${how}); its log is ${logFile(stateDir, part)}`);
      else options.onEnd(part, how);
    },
  };
  const watchdog = startWatchdog(stateDir);
  const stopOwn = async (current: StackState): Promise<void> => {
    isStopping = true;
    await stopParts(stateDir, current, isOwnedBy(owner));
    await stopUnrecorded(stateDir, current);
    watchdog.dismiss();
  };
  try {
    await clearLeftovers(stateDir, state, profile);
    const binaries = await findBinaries(wantedParts(options), session);
    await startServers(binaries, session);
    base.signal.throwIfAborted();
  } catch (error) {
    await stopOwn(state);
    if (base.signal.aborted) throw new StackError('the start was interrupted', { cause: error });
    throw error;
  }
  if (options.detached === true) {
    for (const record of Object.values(state.parts)) record.owner = null;
    writeState(stateDir, state);
    watchdog.dismiss();
  }
  return Object.assign(describeStack(stateDir, state, session.onEnd), {
    stop: async () => {
      const lock = { purpose: `stopping the servers in ${stateDir}`, report: options.report };
      await withStackLock(stateDir, lock, () => stopOwn(readState(stateDir)));
    },
  });
}

function wantedParts(options: StackOptions): Set<PartName> {
  const left = new Set<PartName>(options.without);
  for (const part of OPTIONAL_PARTS) if (options[part] !== true) left.add(part);
  const wanted = PART_NAMES.filter((name) => !left.has(name));
  if (wanted.length === 0) throw new StackError('all servers are excluded: there is nothing to start');
  return new Set(wanted);
}

function isOwnedBy(owner: ProcessIdentity): (record: PartRecord) => boolean {
  return (record) => record.owner !== null && isSameProcess(record.owner, owner);
}

/** Refuses a start while another process owns the servers. Called before anything else. @throws StackError that names that process */
export function refuseSecondStart(stateDir: string): void {
  const directory = realStateDirectory(stateDir);
  refuseForeign(directory, readState(directory), identifySelf());
}

/** Only one process can own the servers of a state folder. */
function refuseForeign(stateDir: string, state: StackState, self: ProcessIdentity): void {
  for (const { owner } of Object.values(state.parts)) {
    if (owner === null || !isAlive(owner)) continue;
    const name = isSameProcess(owner, self) ? 'this process' : describeProcess(owner.pid);
    throw new StackError(`the servers in ${stateDir} are in use by ${name}: stop it first`);
  }
}

/** Stops servers that outlived their owner. A test stack starts without any servers and data. */
async function clearLeftovers(stateDir: string, state: StackState, profile: Profile): Promise<void> {
  await stopParts(
    stateDir,
    state,
    (record) => profile === 'test' || record.owner !== null || !isAlive(record.identity),
  );
  await stopUnrecorded(stateDir, state);
  if (profile === 'development') return;
  for (const part of PART_NAMES) removeDirectory(dataDirectory(stateDir, part));
}

/** Stops all servers of a state folder that run in the background or outlived their owner. Says which there were. */
export async function stopStack(stateDir: string, report: Report): Promise<PartName[]> {
  const directory = realStateDirectory(stateDir);
  return await withStackLock(directory, { purpose: `stopping the servers in ${directory}`, report }, async () => {
    const state = readState(directory);
    refuseForeign(directory, state, identifySelf());
    const running = PART_NAMES.filter((name) => {
      const record = state.parts[name];
      return record !== undefined && isAlive(record.identity);
    });
    await stopParts(directory, state);
    await stopUnrecorded(directory, state);
    return running;
  });
}

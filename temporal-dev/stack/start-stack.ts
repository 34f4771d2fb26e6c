import { PART_NAMES, readStackEnvironment, type PartName, type Variables } from '../machine/stack-environment.ts';
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
import { findBinaries, startServers, withRequirements, type StartSession } from './start-servers.ts';
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
import { stopParts, stopStrays, withStackLock } from './run-server.ts';
import { startWatchdog } from './start-watchdog.ts';

export interface StackOptions {
  /** Absolute path of the folder that holds everything the servers write. */
  stateDir: string;
  /** `development` keeps its data; `test` starts empty, fast and beside a development stack of the same clone. */
  profile: Profile;
  /** Redis or Valkey as well. */
  redis?: boolean;
  /** Parts that the person points elsewhere. PostgreSQL is started all the same when OpenFGA needs it. */
  without?: readonly ('postgres' | 'temporal' | 'openfga')[];
  /** Temporal namespaces to make besides `default`, with the same search attributes. */
  namespaces?: readonly string[];
  /** Where the Temporal UI asks for payloads to be decrypted. */
  uiCodecEndpoint?: string | undefined;
  report: Report;
  /** Servers go on when this process ends. Otherwise they end with it, however it ends. */
  detached?: boolean;
  /** Interrupts a start, including downloads and builds. */
  signal?: AbortSignal;
  /** Instead of the environment of this process. */
  variables?: Variables;
}

/** The stack of the process that started it. */
export interface Stack extends RunningStack {
  /** Stops the servers this process started and returns when they are gone. Those it found running go on. */
  stop(): Promise<void>;
}

/**
 * Brings up the local servers and returns when all are ready. Recovers by itself from whatever an earlier, killed run
 * left. Servers started in the background with the same settings are used as they are.
 * Throws a StackError when something has to be mended by hand; then nothing that it started is left running.
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
      if (!isStopping) options.report(`${part} ended (${how}); its log is ${logFile(stateDir, part)}`);
    },
  };
  const watchdog = startWatchdog(stateDir);
  const stopOwn = async (current: StackState): Promise<void> => {
    isStopping = true;
    await stopParts(stateDir, current, isOwnedBy(owner));
    await stopStrays(stateDir, current);
    watchdog.dismiss();
  };
  try {
    await clearLeftovers(stateDir, state, profile);
    const binaries = await findBinaries(withRequirements(wantedParts(options)), session);
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
  if (options.redis !== true) left.add('redis');
  return new Set(PART_NAMES.filter((name) => !left.has(name)));
}

function isOwnedBy(owner: ProcessIdentity): (record: PartRecord) => boolean {
  return (record) => record.owner !== null && isSameProcess(record.owner, owner);
}

/** Before a start looks for anything else that the one before it may hold. @throws StackError that names who has the servers */
export function refuseSecondStart(stateDir: string): void {
  const directory = realStateDirectory(stateDir);
  refuseForeign(directory, readState(directory), identifySelf());
}

/** Two owners of the same data cannot be. */
function refuseForeign(stateDir: string, state: StackState, self: ProcessIdentity): void {
  for (const { owner } of Object.values(state.parts)) {
    if (owner === null || !isAlive(owner)) continue;
    const name = isSameProcess(owner, self) ? 'this process' : describeProcess(owner.pid);
    throw new StackError(`the servers in ${stateDir} are in use by ${name}: end it first`);
  }
}

/** Stops what outlived its owner; a test starts without anything. */
async function clearLeftovers(stateDir: string, state: StackState, profile: Profile): Promise<void> {
  await stopParts(
    stateDir,
    state,
    (record) => profile === 'test' || record.owner !== null || !isAlive(record.identity),
  );
  await stopStrays(stateDir, state);
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
    await stopStrays(directory, state);
    return running;
  });
}

import { PART_NAMES, type PartName } from '../machine/stack-environment.ts';
import { machineLockName, withMachineLock } from '../machine/machine-lock.ts';
import { MEMBER_VARIABLE } from '../machine/helper-process.ts';
import { clearOpenfgaCrash, isOpenfgaReady } from '../servers/launch-openfga.ts';
import { clearPostgresCrash, findPostgresProcesses, isPostgresReady } from '../servers/launch-postgres.ts';
import {
  findProcesses,
  hasEnvironment,
  isAlive,
  isSameProcess,
  type ProcessIdentity,
} from '../machine/process-table.ts';
import { findRedisProcesses, isRedisReady } from '../servers/launch-redis.ts';
import { logSize, spawnServer, stopProcess, waitUntilReady, type ServerProcess } from '../servers/spawn-server.ts';
import { writeState, type PartRecord, type StackState } from '../servers/stack-state.ts';
import { isTemporalReady } from '../servers/launch-temporal.ts';

/** How each server is asked to end, and how long it may take before it is made to, ms. */
const STOPPING: Record<PartName, { signal: NodeJS.Signals; graceMs: number }> = {
  // SIGINT is PostgreSQL's fast shutdown: clients are sent away, everything is written.
  postgres: { signal: 'SIGINT', graceMs: 20_000 },
  temporal: { signal: 'SIGTERM', graceMs: 10_000 },
  openfga: { signal: 'SIGTERM', graceMs: 5000 },
  redis: { signal: 'SIGTERM', graceMs: 5000 },
};

/** A start under load, or a PostgreSQL that recovers from a crash, may take a while, ms. */
const READY_TIMEOUT_MS = 90_000;

/** Only one process at a time starts or stops servers of a state folder. */
export async function withStackLock<T>(
  stateDir: string,
  options: { purpose: string; report: (line: string) => void },
  action: () => Promise<T>,
): Promise<T> {
  // A cold start may hold it while it builds a server.
  return await withMachineLock(machineLockName('stack', stateDir), { ...options, waitMs: 20 * 60_000 }, action);
}

const READINESS: Record<PartName, (record: PartRecord) => boolean | Promise<boolean>> = {
  postgres: ({ launch, identity }) => isPostgresReady(launch.stateDir, identity.pid),
  temporal: ({ ports }) => isTemporalReady(ports),
  openfga: ({ ports }) => isOpenfgaReady(ports),
  redis: ({ ports }) => isRedisReady(ports),
};

/** True when the server of this record answers. */
export async function isReady(record: PartRecord): Promise<boolean> {
  return await READINESS[record.launch.part](record);
}

/** Told that a server has ended, and how. */
export type EndListener = (part: PartName, how: string) => void;

/**
 * Starts a server, records it before anything else can go wrong, and waits until it is ready. `onEnd` is told when the
 * server ends after that, as long as this process is there to see it.
 */
export async function runServer(
  state: StackState,
  plan: Omit<PartRecord, 'identity' | 'startedAt'>,
  onEnd: EndListener = () => {},
): Promise<void> {
  const { launch } = plan;
  const logOffset = logSize(launch.logFile);
  const server = await spawnServer(launch);
  const record = { ...plan, identity: server.identity, startedAt: new Date().toISOString() };
  state.parts[launch.part] = record;
  writeState(launch.stateDir, state);
  await waitUntilReady(server, launch, { isReady: () => isReady(record), timeoutMs: READY_TIMEOUT_MS, logOffset });
  void tellEnd(server, launch.part, onEnd);
}

async function tellEnd(server: ServerProcess, part: PartName, onEnd: EndListener): Promise<void> {
  onEnd(part, await server.ended);
}

/** Stops the recorded servers for which `mayStop` is true: PostgreSQL last, since OpenFGA works on it. */
export async function stopParts(
  stateDir: string,
  state: StackState,
  mayStop: (record: PartRecord) => boolean = () => true,
): Promise<void> {
  const names = PART_NAMES.filter((name) => {
    const record = state.parts[name];
    return record !== undefined && mayStop(record);
  });
  await Promise.all(names.filter((name) => name !== 'postgres').map((name) => stopPart(stateDir, state, name)));
  if (names.includes('postgres')) await stopPart(stateDir, state, 'postgres');
}

/** Stops one recorded server and forgets it. */
export async function stopPart(stateDir: string, state: StackState, name: PartName): Promise<void> {
  const record = state.parts[name];
  if (record !== undefined) await stopProcess(record.identity, STOPPING[name].signal, STOPPING[name].graceMs);
  if (name === 'postgres') await clearPostgresCrash(stateDir);
  if (name === 'openfga' && record !== undefined) clearOpenfgaCrash(record.identity.pid);
  delete state.parts[name];
  writeState(stateDir, state);
}

/**
 * Ends processes of this state folder that are not on record, for example because their starter was killed before it
 * could write them down. Whoever calls this holds the lock, so nothing of it is being started now.
 */
export async function stopStrays(stateDir: string, state: StackState): Promise<void> {
  const known = Object.values(state.parts).map((record) => record.identity);
  const isKnown = (identity: ProcessIdentity): boolean => known.some((one) => isSameProcess(one, identity));
  const isPostgresKept = state.parts.postgres !== undefined && isAlive(state.parts.postgres.identity);
  const databases = findPostgresProcesses(stateDir);
  const others = [
    ...findProcesses((pid) => hasEnvironment(pid, MEMBER_VARIABLE, stateDir)),
    ...findRedisProcesses(stateDir),
  ].filter((identity) => !isKnown(identity) && !databases.some((one) => isSameProcess(one, identity)));
  await Promise.all(others.map((stray) => stopProcess(stray, 'SIGINT', 5000)));
  if (isPostgresKept) return;
  await Promise.all(databases.map((stray) => stopProcess(stray, STOPPING.postgres.signal, 5000)));
  await clearPostgresCrash(stateDir);
}

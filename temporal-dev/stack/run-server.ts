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
import { isGcsReady } from '../servers/launch-gcs.ts';
import { isS3Ready } from '../servers/launch-s3.ts';
import { findRedisProcesses, isRedisReady } from '../servers/launch-redis.ts';
import { logSize } from '../servers/server-log.ts';
import { spawnServer, stopProcess, waitUntilReady, type ServerProcess } from '../servers/spawn-server.ts';
import { writeState, type PartRecord, type StackState } from '../servers/stack-state.ts';
import { isTemporalReady } from '../servers/launch-temporal.ts';

/** The signal that stops each server, and the time after which it is killed, ms. */
const STOPPING: Record<PartName, { signal: NodeJS.Signals; graceMs: number }> = {
  // SIGINT is the fast shutdown of PostgreSQL: it disconnects clients and writes all data.
  postgres: { signal: 'SIGINT', graceMs: 20_000 },
  temporal: { signal: 'SIGTERM', graceMs: 10_000 },
  openfga: { signal: 'SIGTERM', graceMs: 5000 },
  redis: { signal: 'SIGTERM', graceMs: 5000 },
  // When it is asked to stop, its filer waits 15 seconds for clients in its own process. Writes that it has acknowledged are in its files.
  s3: { signal: 'SIGKILL', graceMs: 5000 },
  gcs: { signal: 'SIGTERM', graceMs: 5000 },
};

/** Maximum time of a start, ms. It is long because the machine may be busy, or PostgreSQL may recover from a crash. */
const READY_TIMEOUT_MS = 90_000;

/** Runs `action` while no other process starts or stops servers of the state folder. */
export async function withStackLock<T>(
  stateDir: string,
  options: { purpose: string; report: (line: string) => void },
  action: () => Promise<T>,
): Promise<T> {
  // The first start holds the lock while it builds a server.
  return await withMachineLock(machineLockName('stack', stateDir), { ...options, waitMs: 20 * 60_000 }, action);
}

const READINESS: Record<PartName, (record: PartRecord) => boolean | Promise<boolean>> = {
  postgres: ({ launch, identity }) => isPostgresReady(launch.stateDir, identity.pid),
  temporal: ({ ports }) => isTemporalReady(ports),
  openfga: ({ ports }) => isOpenfgaReady(ports),
  redis: ({ ports }) => isRedisReady(ports),
  s3: ({ ports }) => isS3Ready(ports),
  gcs: ({ ports }) => isGcsReady(ports),
};

/** True when the recorded server responds. */
export async function isReady(record: PartRecord): Promise<boolean> {
  return await READINESS[record.launch.part](record);
}

/** Called with the exit code or signal when a server has ended. */
export type EndListener = (part: PartName, how: string) => void;

/**
 * Starts a server, records it at once, and waits until it is ready. `onEnd` is called when the server ends later while
 * this process runs.
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

/** Stops the recorded servers for which `mayStop` is true. PostgreSQL is stopped last, because OpenFGA uses it. */
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

/** Stops one recorded server and deletes its record. */
export async function stopPart(stateDir: string, state: StackState, name: PartName): Promise<void> {
  const record = state.parts[name];
  if (record !== undefined) await stopProcess(record.identity, STOPPING[name].signal, STOPPING[name].graceMs);
  if (name === 'postgres') await clearPostgresCrash(stateDir);
  if (name === 'openfga' && record !== undefined) clearOpenfgaCrash(record.identity.pid);
  delete state.parts[name];
  writeState(stateDir, state);
}

/**
 * Ends processes of this state folder that are not recorded, for example because a start was killed before it recorded
 * them. The caller must hold the lock, so that no process is being started meanwhile.
 */
export async function stopUnrecorded(stateDir: string, state: StackState): Promise<void> {
  const known = Object.values(state.parts).map((record) => record.identity);
  const isKnown = (identity: ProcessIdentity): boolean => known.some((one) => isSameProcess(one, identity));
  const isPostgresKept = state.parts.postgres !== undefined && isAlive(state.parts.postgres.identity);
  const databases = findPostgresProcesses(stateDir);
  const others = [
    ...findProcesses((pid) => hasEnvironment(pid, MEMBER_VARIABLE, stateDir)),
    ...findRedisProcesses(stateDir),
  ].filter((identity) => !isKnown(identity) && !databases.some((one) => isSameProcess(one, identity)));
  await Promise.all(others.map((identity) => stopProcess(identity, 'SIGINT', 5000)));
  if (isPostgresKept) return;
  await Promise.all(databases.map((identity) => stopProcess(identity, STOPPING.postgres.signal, 5000)));
  await clearPostgresCrash(stateDir);
}

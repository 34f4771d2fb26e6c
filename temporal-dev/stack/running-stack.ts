import type { PartName, PortName } from '../machine/stack-environment.ts';
import { LOOPBACK, requirePort } from '../machine/ports.ts';
import { postgresUrl } from '../servers/launch-postgres.ts';
import { redisUrl } from '../servers/launch-redis.ts';
import { stopProcess } from '../servers/spawn-server.ts';
import { StackError } from '../machine/stack-error.ts';
import { readState, realStateDirectory, type PartRecord, type StackState } from '../servers/stack-state.ts';
import { runServer, stopPart, withStackLock, type EndListener } from './run-server.ts';

/** The addresses and pids of the servers of a state folder, at the time of the call. */
export interface RunningStack {
  /** `url` returns the connection URL of a database, with the password. */
  postgres?: { url: (database: string) => string; pid: number; port: number };
  temporal?: { address: string; uiUrl: string; pid: number };
  openfga?: { url: string; pid: number };
  redis?: { url: string; pid: number };
  s3?: { url: string; pid: number };
  gcs?: { url: string; pid: number };
  /** Kills a server with SIGKILL and returns when it has ended. For tests. */
  kill(part: PartName): Promise<void>;
  /** Restarts a killed or running server with the same port and data, and returns when it is ready. */
  restart(part: PartName): Promise<void>;
}

/** The running servers of a state folder, for a process that did not start them. Throws a StackError when none is recorded. */
export function attachStack(stateDir: string): RunningStack {
  const directory = realStateDirectory(stateDir);
  const state = readState(directory);
  if (Object.keys(state.parts).length === 0) {
    throw new StackError(`no servers are running in ${directory}: start them with \`npm run stack -- start\``);
  }
  return describeStack(directory, state);
}

/** The recorded servers. `onEnd` is called when a server that was restarted through the result ends. */
export function describeStack(stateDir: string, state: StackState, onEnd?: EndListener): RunningStack {
  const stack: RunningStack = {
    ...addresses(stateDir, state),
    kill: async (part) => {
      await stopProcess(recordOf(stateDir, readState(stateDir), part).identity, 'SIGKILL', 10_000);
    },
    restart: async (part) => {
      const options = { purpose: `restarting ${part}`, report: () => {} };
      await withStackLock(stateDir, options, async () => {
        const current = readState(stateDir);
        const { identity: _, startedAt: __, ...plan } = recordOf(stateDir, current, part);
        await stopPart(stateDir, current, part);
        await runServer(current, plan, onEnd);
        Object.assign(stack, addresses(stateDir, current));
      });
    },
  };
  return stack;
}

function recordOf(stateDir: string, state: StackState, part: PartName): PartRecord {
  const record = state.parts[part];
  if (record === undefined)
    throw new StackError(`${part} is not recorded in ${stateDir}: it was not started, or it was stopped`);
  return record;
}

function addresses(stateDir: string, { parts, redisPassword = '' }: StackState): Pick<RunningStack, PartName> {
  const { postgres, temporal, openfga, redis, s3, gcs } = parts;
  const address = ({ ports }: PartRecord, name: PortName): string => `${LOOPBACK}:${requirePort(ports, name)}`;
  return {
    ...(postgres && {
      postgres: {
        url: (database) => postgresUrl(stateDir, postgres.ports, database),
        pid: postgres.identity.pid,
        port: requirePort(postgres.ports, 'postgres'),
      },
    }),
    ...(temporal && {
      temporal: {
        address: address(temporal, 'temporal'),
        uiUrl: `http://${address(temporal, 'temporal-ui')}`,
        pid: temporal.identity.pid,
      },
    }),
    ...(openfga && { openfga: { url: `http://${address(openfga, 'openfga')}`, pid: openfga.identity.pid } }),
    ...(s3 && { s3: { url: `http://${address(s3, 's3')}`, pid: s3.identity.pid } }),
    ...(gcs && { gcs: { url: `http://${address(gcs, 'gcs')}`, pid: gcs.identity.pid } }),
    ...(redis && { redis: { url: redisUrl(redis.ports, redisPassword), pid: redis.identity.pid } }),
  };
}

import { createHash } from 'node:crypto';
import { createServer } from 'node:net';
import type { PortName, StackEnvironment } from './stack-environment.ts';
import { machineLockName, tryMachineLock, type MachineLock } from './machine-lock.ts';
import { describeProcess, listenerOf } from './process-table.ts';
import { codeOf, StackError } from './stack-error.ts';

/** All servers listen on this address only. */
export const LOOPBACK = '127.0.0.1';

/** Default ports of a development stack, used when they are free. */
const DEFAULT_PORTS: Record<PortName, number> = {
  postgres: 15_432,
  temporal: 7233,
  'temporal-http': 7243,
  'temporal-ui': 8233,
  openfga: 18_080,
  'openfga-grpc': 18_081,
  redis: 16_379,
  s3: 19_000,
  's3-grpc': 19_001,
  's3-master': 19_002,
  's3-master-grpc': 19_003,
  's3-volume': 19_004,
  's3-volume-grpc': 19_005,
  's3-filer': 19_006,
  's3-filer-grpc': 19_007,
  gcs: 14_443,
};

/** Below the range from which Linux takes local ports of outgoing connections, which could otherwise take the port first. */
const SEARCH_FROM = 20_000;
const SEARCH_TO = 32_000;

export type Ports = Partial<Record<PortName, number>>;

/** The port with this name, which must have been chosen. */
export function requirePort(ports: Ports, name: PortName): number {
  const port = ports[name];
  if (port === undefined) throw new Error(`no port has been chosen for ${name}`);
  return port;
}

/** A free port that no other stack on this machine chooses until `release`. */
export interface PortClaim {
  port: number;
  release: () => Promise<void>;
}

interface PortRequest {
  name: PortName;
  /** The port that this state folder used last. */
  remembered?: number | undefined;
  /** Called when another process uses the remembered port. */
  report: (line: string) => void;
}

/**
 * Chooses a free port: the configured port, else the remembered one, else the default, else the first free one of a range.
 * The search in the range begins at a port that depends on the state folder, so that clones rarely collide. Throws a
 * StackError that names the process when a configured port is in use.
 */
export async function claimPort(
  request: PortRequest,
  options: { stateDir: string; environment: StackEnvironment; shouldUseDefaultPorts: boolean },
): Promise<PortClaim> {
  const configured = options.environment.ports[request.name];
  if (configured !== undefined) {
    const claim = await tryClaim(configured.port);
    if (claim !== undefined) return claim;
    throw new StackError(
      `port ${configured.port} (${configured.variable}) is in use by ${holderOf(configured.port)}: ` +
        `stop it, or set ${configured.variable} to a free port`,
    );
  }
  for (const port of candidates(request, options)) {
    const claim = await tryClaim(port);
    if (claim === undefined) continue;
    if (request.remembered !== undefined && request.remembered !== port) {
      request.report(
        `port ${request.remembered} is in use by ${holderOf(request.remembered)}: ${request.name} moves to ${port}`,
      );
    }
    return claim;
  }
  throw new StackError(
    `no free port between ${SEARCH_FROM} and ${SEARCH_TO} for ${request.name}: free one and start again`,
  );
}

function* candidates(
  request: PortRequest,
  options: { stateDir: string; shouldUseDefaultPorts: boolean },
): Generator<number> {
  if (request.remembered !== undefined) yield request.remembered;
  if (options.shouldUseDefaultPorts) yield DEFAULT_PORTS[request.name];
  const size = SEARCH_TO - SEARCH_FROM;
  const start = createHash('sha256').update(options.stateDir).digest().readUInt32BE() % size;
  for (let step = 0; step < size; step += 1) yield SEARCH_FROM + ((start + step) % size);
}

async function tryClaim(port: number): Promise<PortClaim | undefined> {
  const right: MachineLock | undefined = await tryMachineLock(
    machineLockName(`port-${port}`),
    `starting a server on port ${port}`,
  );
  if (right === undefined) return undefined;
  if (await isFree(port)) return { port, release: () => right.release() };
  await right.release();
  return undefined;
}

/** True when a server could listen on this port now. */
export async function isFree(port: number): Promise<boolean> {
  const server = createServer();
  try {
    await new Promise<void>((resolve, reject) => {
      server.once('error', reject);
      server.listen({ port, host: LOOPBACK, exclusive: true }, resolve);
    });
  } catch (error) {
    if (codeOf(error) === 'EADDRINUSE') return false;
    if (codeOf(error) === 'EACCES') {
      throw new StackError(`port ${port} requires more rights than this user has: choose a port above 1023`, {
        cause: error,
      });
    }
    throw error;
  }
  await new Promise((resolve) => {
    server.close(resolve);
  });
  return true;
}

function holderOf(port: number): string {
  const pid = listenerOf(port);
  return pid === undefined ? 'a process of another user or container' : describeProcess(pid);
}

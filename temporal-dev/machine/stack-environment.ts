import { homedir } from 'node:os';
import { join } from 'node:path';
import { StackError } from './stack-error.ts';

/** The servers of the stack. */
export const PART_NAMES = ['postgres', 'temporal', 'openfga', 'redis'] as const;
export type PartName = (typeof PART_NAMES)[number];

/** The ports of the stack; `temporal` speaks gRPC, `temporal-http` the same API as JSON. */
export const PORT_NAMES = [
  'postgres',
  'temporal',
  'temporal-http',
  'temporal-ui',
  'openfga',
  'openfga-grpc',
  'redis',
] as const;
export type PortName = (typeof PORT_NAMES)[number];

/** Variables as a process is given them. */
export type Variables = Readonly<Record<string, string | undefined>>;

/** What the environment says about the local stack; `variables` is what helper processes (pip, go) are given. */
export interface StackEnvironment {
  variables: Variables;
  /** Folders of the binary cache in order of preference; `mustWork` is true when the person named the folder. */
  cacheDirectories: { path: string; mustWork: boolean }[];
  /** Ports the person chose. */
  ports: Partial<Record<PortName, { variable: string; port: number }>>;
}

/**
 * Reads the variables of the local stack:
 * `STACK_CACHE_DIR` (else `$XDG_CACHE_HOME/core-server`, else `~/.cache/core-server`, else `cache` in the state folder;
 * for root's PostgreSQL `/var/cache/core-server` where its home is closed to others)
 * and `STACK_POSTGRES_PORT`, `STACK_TEMPORAL_PORT`, `STACK_TEMPORAL_HTTP_PORT`,
 * `STACK_TEMPORAL_UI_PORT`, `STACK_OPENFGA_PORT`, `STACK_OPENFGA_GRPC_PORT`, `STACK_REDIS_PORT`. Throws a StackError for a port that is none.
 */
export function readStackEnvironment(variables: Variables, stateDir: string): StackEnvironment {
  const ports: StackEnvironment['ports'] = {};
  for (const name of PORT_NAMES) {
    const variable = `STACK_${name.toUpperCase().replace('-', '_')}_PORT`;
    const value = variables[variable];
    if (value !== undefined && value !== '') ports[name] = { variable, port: parsePort(variable, value) };
  }
  return { variables, ports, cacheDirectories: cacheDirectories(variables, stateDir) };
}

function parsePort(variable: string, value: string): number {
  const port = Number(value);
  if (Number.isInteger(port) && port >= 1 && port <= 65_535) return port;
  throw new StackError(`${variable} is ${JSON.stringify(value)}: give a port from 1 to 65535, or leave it out`);
}

function cacheDirectories(variables: Variables, stateDir: string): StackEnvironment['cacheDirectories'] {
  const own = { path: join(stateDir, 'cache'), mustWork: true };
  if (variables['STACK_CACHE_DIR']) return [{ path: variables['STACK_CACHE_DIR'], mustWork: true }];
  if (variables['XDG_CACHE_HOME']) {
    return [{ path: join(variables['XDG_CACHE_HOME'], 'core-server'), mustWork: false }, own];
  }
  const shared = [join(variables['HOME'] || homedir(), '.cache', 'core-server')];
  // The home of root is closed to the user as whom PostgreSQL then runs; this is where root keeps caches for others.
  if (process.getuid?.() === 0) shared.push('/var/cache/core-server');
  return [...shared.map((path) => ({ path, mustWork: false })), own];
}

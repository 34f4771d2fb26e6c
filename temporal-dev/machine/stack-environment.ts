import { homedir } from 'node:os';
import { join } from 'node:path';
import { StackError } from './stack-error.ts';

/** The servers of the stack. */
export const PART_NAMES = ['postgres', 'temporal', 'openfga', 'redis', 's3', 'gcs'] as const;
export type PartName = (typeof PART_NAMES)[number];

/** Parts that are only started on request. */
export const OPTIONAL_PARTS = ['redis', 's3', 'gcs'] as const satisfies readonly PartName[];
export type OptionalPart = (typeof OPTIONAL_PARTS)[number];

/** The ports of `s3`: its own, and those at which the servers of which SeaweedFS consists reach each other. */
export const S3_PORT_NAMES = [
  's3',
  's3-grpc',
  's3-master',
  's3-master-grpc',
  's3-volume',
  's3-volume-grpc',
  's3-filer',
  's3-filer-grpc',
] as const;

/** The ports of the stack. `temporal` is the gRPC API, `temporal-http` the same API as JSON over HTTP. */
export const PORT_NAMES = [
  'postgres',
  'temporal',
  'temporal-http',
  'temporal-ui',
  'openfga',
  'openfga-grpc',
  'redis',
  ...S3_PORT_NAMES,
  'gcs',
] as const;
export type PortName = (typeof PORT_NAMES)[number];

/** Environment variables of a process. */
export type Variables = Readonly<Record<string, string | undefined>>;

/** The settings of the local stack from the environment. `variables` is passed to helper processes (pip, go). */
export interface StackEnvironment {
  variables: Variables;
  /** Folders of the binary cache in order of preference. `mustWork`: it is an error when the folder is not writable. */
  cacheDirectories: { path: string; mustWork: boolean }[];
  /** Ports that were configured. */
  ports: Partial<Record<PortName, { variable: string; port: number }>>;
}

/**
 * Reads the variables of the local stack:
 * `STACK_CACHE_DIR` (else `$XDG_CACHE_HOME/core-server`, else `~/.cache/core-server`, else `cache` in the state folder;
 * root also uses `/var/cache/core-server` when its home is not accessible for the user that PostgreSQL runs as)
 * and `STACK_POSTGRES_PORT`, `STACK_TEMPORAL_PORT`, `STACK_TEMPORAL_HTTP_PORT`,
 * `STACK_TEMPORAL_UI_PORT`, `STACK_OPENFGA_PORT`, `STACK_OPENFGA_GRPC_PORT`, `STACK_REDIS_PORT`,
 * `STACK_S3_PORT` (and `STACK_S3_GRPC_PORT`, `STACK_S3_MASTER_PORT` and so on), `STACK_GCS_PORT`. Throws a StackError for an invalid port.
 */
export function readStackEnvironment(variables: Variables, stateDir: string): StackEnvironment {
  const ports: StackEnvironment['ports'] = {};
  for (const name of PORT_NAMES) {
    const variable = `STACK_${name.toUpperCase().replaceAll('-', '_')}_PORT`;
    const value = variables[variable];
    if (value !== undefined && value !== '') ports[name] = { variable, port: parsePort(variable, value) };
  }
  return { variables, ports, cacheDirectories: cacheDirectories(variables, stateDir) };
}

function parsePort(variable: string, value: string): number {
  const port = Number(value);
  if (Number.isInteger(port) && port >= 1 && port <= 65_535) return port;
  throw new StackError(`${variable} is ${JSON.stringify(value)}: set a port from 1 to 65535, or unset it`);
}

function cacheDirectories(variables: Variables, stateDir: string): StackEnvironment['cacheDirectories'] {
  const own = { path: join(stateDir, 'cache'), mustWork: true };
  if (variables['STACK_CACHE_DIR']) return [{ path: variables['STACK_CACHE_DIR'], mustWork: true }];
  if (variables['XDG_CACHE_HOME']) {
    return [{ path: join(variables['XDG_CACHE_HOME'], 'core-server'), mustWork: false }, own];
  }
  const shared = [join(variables['HOME'] || homedir(), '.cache', 'core-server')];
  // The user that PostgreSQL then runs as cannot access the home of root, but it can access this folder.
  if (process.getuid?.() === 0) shared.push('/var/cache/core-server');
  return [...shared.map((path) => ({ path, mustWork: false })), own];
}

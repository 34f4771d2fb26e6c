import { readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import type { FoundBinary } from '../binaries/binary-spec.ts';
import { lastLine, runHelper } from '../machine/helper-process.ts';
import type { PortName } from '../machine/stack-environment.ts';
import { LOOPBACK, requirePort, type Ports } from '../machine/ports.ts';
import { goSettings } from './go-settings.ts';
import type { Launch } from './spawn-server.ts';
import { StackError } from '../machine/stack-error.ts';
import { postgresUrl, type Profile } from './launch-postgres.ts';
import { dataDirectory, logFile } from './stack-state.ts';

/** OpenFGA's own database on the stack's PostgreSQL. */
export const OPENFGA_DATABASE = 'openfga';

/** Where OpenFGA stores its data. */
interface Datastore {
  engine: 'postgres' | 'sqlite';
  uri: string;
}

/** Its database on the stack's PostgreSQL, which listens on one of `ports`. */
export function postgresDatastore(stateDir: string, ports: Ports): Datastore {
  return { engine: 'postgres', uri: `${postgresUrl(stateDir, ports, OPENFGA_DATABASE)}?sslmode=disable` };
}

/** A file, for a stack without PostgreSQL. Writers wait for each other. */
export function fileDatastore(stateDir: string): Datastore {
  const path = join(dataDirectory(stateDir, 'openfga'), 'openfga.db');
  return { engine: 'sqlite', uri: `${path}?_pragma=busy_timeout(10000)` };
}

/** The datastore settings. They are passed as environment variables because the URL contains a password that the process list would show. */
function datastoreSettings({ engine, uri }: Datastore): Record<string, string> {
  return { PATH: '/usr/bin:/bin', OPENFGA_DATASTORE_ENGINE: engine, OPENFGA_DATASTORE_URI: uri };
}

/** Migrates the database of OpenFGA to the schema of the binary. Can be repeated after an interruption. */
export async function migrateOpenfga(stateDir: string, binary: FoundBinary, datastore: Datastore): Promise<void> {
  const { exitCode, output } = await runHelper(binary.path, ['migrate'], {
    stateDir,
    variables: datastoreSettings(datastore),
    timeoutMs: 120_000,
  });
  if (exitCode !== 0) throw new StackError(`openfga migrate failed: ${lastLine(output)}`);
}

/** The command that starts the OpenFGA server. */
export function launchOpenfga(
  stateDir: string,
  binary: FoundBinary,
  options: { ports: Ports; profile: Profile; datastore: Datastore },
): Launch {
  const address = (name: PortName): string => `${LOOPBACK}:${requirePort(options.ports, name)}`;
  const args = ['run', '--http-addr', address('openfga'), '--grpc-addr', address('openfga-grpc')];
  args.push('--playground-enabled=false', '--metrics-enabled=false', '--log-format', 'json', '--log-level', 'warn');
  return {
    part: 'openfga',
    command: binary.path,
    args,
    env: { ...datastoreSettings(options.datastore), ...goSettings(options.profile) },
    cwd: stateDir,
    logFile: logFile(stateDir, 'openfga'),
    stateDir,
  };
}

/** Deletes the folder with a socket that a killed server leaves in /tmp. */
export function clearOpenfgaCrash(pid: number): void {
  for (const name of readdirSync('/tmp')) {
    if (name.startsWith(`openfga-${pid}-`)) rmSync(join('/tmp', name), { recursive: true, force: true });
  }
}

/** True when the server reports that it is healthy. */
export async function isOpenfgaReady(ports: Ports): Promise<boolean> {
  try {
    const response = await fetch(`http://${LOOPBACK}:${requirePort(ports, 'openfga')}/healthz`, {
      signal: AbortSignal.timeout(2000),
    });
    await response.arrayBuffer();
    return response.ok;
  } catch {
    return false; // Not listening yet.
  }
}

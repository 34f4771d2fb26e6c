import { randomBytes } from 'node:crypto';
import {
  chownSync,
  existsSync,
  lchownSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { basename, dirname, join } from 'node:path';
import type { PostgresBinaries } from '../binaries/postgres-binaries.ts';
import { lastLine, runHelper } from '../machine/helper-process.ts';
import { LOOPBACK, requirePort, type Ports } from '../machine/ports.ts';
import { choosePostgresUser, type PostgresUser } from '../machine/choose-postgres-user.ts';
import { findProcessesIn, type ProcessIdentity } from '../machine/process-table.ts';
import { stopProcess, type Launch } from './spawn-server.ts';
import { DiskFullError, explainFileError, saysDiskFull, StackError } from '../machine/stack-error.ts';
import { dataDirectory, logFile } from './stack-state.ts';

/** `test` turns off durability for speed, because test data need not survive a crash of the machine. */
export type Profile = 'development' | 'test';

/** The data directory of PostgreSQL. */
export function clusterDirectory(stateDir: string): string {
  return join(dataDirectory(stateDir, 'postgres'), 'data');
}

/** The connection URL of a database, with the password. */
export function postgresUrl(stateDir: string, ports: Ports, database: string): string {
  const password = readFileSync(join(dataDirectory(stateDir, 'postgres'), 'password'), 'utf8').trim();
  return `postgresql://postgres:${password}@${LOOPBACK}:${requirePort(ports, 'postgres')}/${encodeURIComponent(database)}`;
}

/** Creates the database cluster if it does not exist, and chooses the user that the server runs as. */
export async function preparePostgres(
  stateDir: string,
  binaries: PostgresBinaries,
  profile: Profile,
): Promise<PostgresUser> {
  const user = choosePostgresUser([binaries.directory, stateDir]);
  const directory = dataDirectory(stateDir, 'postgres');
  for (const name of readdirSync(stateDir)) {
    if (name.startsWith(`${basename(directory)}.new-`)) rmSync(join(stateDir, name), { recursive: true, force: true });
  }
  if (!existsSync(directory)) await createCluster(stateDir, binaries, profile, user);
  takeOver(user, directory);
  checkCluster(stateDir, binaries);
  return user;
}

async function createCluster(
  stateDir: string,
  binaries: PostgresBinaries,
  profile: Profile,
  user: PostgresUser,
): Promise<void> {
  const directory = dataDirectory(stateDir, 'postgres');
  const unfinished = `${directory}.new-${process.pid}`;
  const passwordFile = join(unfinished, 'password');
  try {
    mkdirSync(unfinished);
    // Long enough to need no key stretching, and without characters that have a meaning in a URL.
    writeFileSync(passwordFile, randomBytes(24).toString('base64url'), { mode: 0o600 });
    for (const path of [unfinished, passwordFile]) giveTo(user, path);
  } catch (error) {
    throw explainFileError(error, directory);
  }
  const args = ['-D', join(unfinished, 'data'), '-U', 'postgres', '-E', 'UTF8', '-A', 'scram-sha-256'];
  args.push(`--pwfile=${passwordFile}`, '--no-instructions', ...localeArguments(binaries.major));
  if (binaries.major >= 16) args.push('-c', 'scram_iterations=1');
  if (profile === 'test') args.push('--no-sync');
  const { command, args: all, ...credentials } = asUser(user, join(binaries.directory, 'initdb'), args);
  const { exitCode, output } = await runHelper(command, all, { stateDir, variables: SERVER_ENV, ...credentials });
  if (exitCode === 0) {
    renameSync(unfinished, directory);
    return;
  }
  rmSync(unfinished, { recursive: true, force: true });
  if (saysDiskFull(output)) throw new DiskFullError(stateDir);
  throw new StackError(`initdb failed for ${directory}: ${lastLine(output)}`);
}

/** Sorting by bytes and Unicode character classes, the same on every machine. */
function localeArguments(major: number): string[] {
  return major >= 17
    ? ['--locale-provider=builtin', '--builtin-locale=C.UTF-8', '--locale=C.UTF-8']
    : ['--locale=C.UTF-8'];
}

function checkCluster(stateDir: string, binaries: PostgresBinaries): void {
  const directory = dataDirectory(stateDir, 'postgres');
  const remedy = '`npm run stack -- reset` starts over with empty data';
  let version: string;
  try {
    version = readFileSync(join(clusterDirectory(stateDir), 'PG_VERSION'), 'utf8').trim();
    readFileSync(join(directory, 'password'));
  } catch (error) {
    const fileError = explainFileError(error, directory);
    if (fileError instanceof StackError) throw fileError;
    throw new StackError(`${directory} is not a complete PostgreSQL folder: ${remedy}`, { cause: error });
  }
  if (Number(version) !== binaries.major) {
    throw new StackError(
      `${directory} was created by PostgreSQL ${version}, but the installed version is ${binaries.version}: ` +
        `set STACK_POSTGRES_BIN to a PostgreSQL ${version}; ${remedy}`,
    );
  }
}

/** The PostgreSQL processes of this state folder, including orphaned children. All of them have the data directory as working directory. */
export function findPostgresProcesses(stateDir: string): ProcessIdentity[] {
  return findProcessesIn(clusterDirectory(stateDir), ['postgres']);
}

/**
 * Cleans up after a killed server: kills children that still use its shared memory, and deletes its postmaster.pid. If
 * another process has the recorded pid by now, PostgreSQL would take that process for a running server. The server itself
 * must have ended.
 */
export async function clearPostgresCrash(stateDir: string): Promise<void> {
  await Promise.all(findPostgresProcesses(stateDir).map((child) => stopProcess(child, 'SIGQUIT', 1000)));
  rmSync(join(clusterDirectory(stateDir), 'postmaster.pid'), { force: true });
}

/** The command that starts the server. */
export function launchPostgres(
  stateDir: string,
  binaries: PostgresBinaries,
  options: { ports: Ports; profile: Profile; user: PostgresUser },
): Launch {
  const settings: Record<string, string> = {
    listen_addresses: LOOPBACK,
    port: String(requirePort(options.ports, 'postgres')),
    // Clients connect by TCP only: there are no socket files outside the state folder, and its path may be of any length.
    unix_socket_directories: '',
    max_connections: '300',
    max_prepared_transactions: '64',
    log_checkpoints: 'off',
    // A commit is one system call instead of two, and as durable.
    wal_sync_method: 'open_datasync',
    ...(options.profile === 'test' ? { fsync: 'off', synchronous_commit: 'off', full_page_writes: 'off' } : {}),
  };
  const args = ['-D', clusterDirectory(stateDir)];
  for (const [name, value] of Object.entries(settings)) args.push('-c', `${name}=${value}`);
  return {
    part: 'postgres',
    ...asUser(options.user, join(binaries.directory, 'postgres'), args),
    env: SERVER_ENV,
    cwd: dirname(clusterDirectory(stateDir)),
    logFile: logFile(stateDir, 'postgres'),
    stateDir,
  };
}

/** True when the server accepts connections, which it writes into the last line of its pid file. */
export function isPostgresReady(stateDir: string, pid: number): boolean {
  try {
    const lines = readFileSync(join(clusterDirectory(stateDir), 'postmaster.pid'), 'utf8').split('\n');
    return Number(lines[0]) === pid && lines[7]?.trim() === 'ready';
  } catch {
    return false; // The file does not exist yet, or is being written.
  }
}

/** The whole environment of the server: the PG… variables of the caller must not reach it. */
const SERVER_ENV = { PATH: '/usr/bin:/bin', LC_ALL: 'C.UTF-8', TZ: 'UTC' };

function asUser(
  user: PostgresUser,
  command: string,
  args: string[],
): { command: string; args: string[]; uid?: number; gid?: number } {
  if (user.type === 'namespace') {
    return { command: user.prefix[0], args: [...user.prefix.slice(1), command, ...args] };
  }
  return user.type === 'self' ? { command, args } : { command, args, uid: user.uid, gid: user.gid };
}

function giveTo(user: PostgresUser, path: string): void {
  if (user.type === 'switch') chownSync(path, user.uid, user.gid);
}

/** Changes the owner of a cluster that was created as another user, for example before the project was moved. */
function takeOver(user: PostgresUser, directory: string): void {
  const own = { uid: process.getuid?.() ?? 0, gid: process.getgid?.() ?? 0 };
  const { uid, gid } = user.type === 'switch' ? user : own;
  const owner = statSync(directory).uid;
  if (owner === uid) return;
  if (own.uid !== 0) {
    throw new StackError(
      `${directory} belongs to user ${owner}: run as that user, or delete ${dirname(directory)} as root`,
    );
  }
  chownSync(directory, uid, gid);
  for (const name of readdirSync(directory, { recursive: true, encoding: 'utf8' })) {
    lchownSync(join(directory, name), uid, gid);
  }
}

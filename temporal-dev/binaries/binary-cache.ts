import { createHash, randomBytes } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { access, chmod, constants, mkdir, readdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import type { StackEnvironment } from '../machine/stack-environment.ts';
import type { Platform } from '../machine/platform.ts';
import type { Report } from '../machine/progress-report.ts';
import { codeOf, explainFileError, messageOf } from '../machine/stack-error.ts';
import type { BinarySpec } from './binary-spec.ts';

/** What is kept beside a cached binary: what it was when it was let in. */
interface Origin {
  route: string;
  version: string;
  sha256: string;
  sizeBytes: number;
  modifiedMs: number;
}

/**
 * The first cache folder that can be written and, if there is such a one, that `isWanted`. Throws a StackError when the
 * person named one that cannot be written.
 */
export async function openCache(
  environment: StackEnvironment,
  isWanted: (path: string) => boolean = () => true,
): Promise<string> {
  let writable: string | undefined;
  for (const { path, mustWork } of environment.cacheDirectories) {
    try {
      await mkdir(path, { recursive: true });
      await access(path, constants.W_OK);
      if (isWanted(path)) return path;
      writable ??= path;
    } catch (error) {
      if (mustWork) throw explainFileError(error, path);
    }
  }
  if (writable === undefined) throw new Error('the last cache folder always must work');
  return writable;
}

/** Where a binary is kept: the version and platform are part of the path, so an update never meets an old file. */
export function cacheEntry(cache: string, spec: BinarySpec, platform: Platform): string {
  return join(cache, `${spec.name}-${spec.version}-${platform}`);
}

/**
 * The cached binary, if there is one and it is still the file that was checked when it came in. An unchanged size and
 * time count as the same file; otherwise its checksum decides, and a file that fails is thrown away.
 */
export async function readCache(
  entry: string,
  spec: BinarySpec,
  report: Report,
): Promise<{ path: string; version: string; route: string } | undefined> {
  const path = join(entry, spec.commands[0]);
  try {
    const origin = parseOrigin(await readFile(join(entry, 'origin.json'), 'utf8'));
    const { size, mtimeMs } = await stat(path);
    const isUntouched = size === origin.sizeBytes && mtimeMs === origin.modifiedMs;
    if (isUntouched || (await sha256Of(path)) === origin.sha256) {
      return { path, version: origin.version, route: origin.route };
    }
    report(`${path} is damaged (its checksum changed): it is fetched again`);
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return undefined;
    report(`${path} cannot be used (${messageOf(error)}): it is fetched again`);
  }
  await rm(entry, { recursive: true, force: true });
  return undefined;
}

/**
 * Lets a folder into the cache in one step: `fill` builds it under a temporary name, and only a complete one gets the
 * real name. Whatever fails leaves nothing behind.
 */
export async function fillCache(entry: string, fill: (directory: string) => Promise<void>): Promise<void> {
  const directory = `${entry}.${process.pid}-${randomBytes(4).toString('hex')}.part`;
  try {
    await mkdir(directory, { recursive: true });
    await fill(directory);
    await rm(entry, { recursive: true, force: true });
    await rename(directory, entry);
  } catch (error) {
    // Explained first: it says how much room there was before this made some.
    const fileError = explainFileError(error, entry);
    await rm(directory, { recursive: true, force: true });
    throw fileError;
  }
}

/** Removes what killed fetches of this entry left. Only for the holder of the entry's lock. */
export async function removeUnfinished(cache: string, entry: string): Promise<void> {
  for (const name of await readdir(cache)) {
    const path = join(cache, name);
    if (path.startsWith(`${entry}.`) && path.endsWith('.part')) await rm(path, { recursive: true, force: true });
  }
}

/** Makes a fetched file executable, has it checked, and writes down what it is. */
export async function sealBinary(
  path: string,
  directory: string,
  check: () => Promise<{ version: string; route: string }>,
): Promise<void> {
  await chmod(path, 0o755);
  const found = await check();
  const { size, mtimeMs } = await stat(path);
  const origin: Origin = { ...found, sha256: await sha256Of(path), sizeBytes: size, modifiedMs: mtimeMs };
  await writeFile(join(directory, 'origin.json'), `${JSON.stringify(origin, undefined, 2)}\n`);
}

async function sha256Of(path: string): Promise<string> {
  const hash = createHash('sha256');
  await pipeline(createReadStream(path), hash);
  return hash.digest('hex');
}

function parseOrigin(text: string): Origin {
  const origin: unknown = JSON.parse(text);
  if (isOrigin(origin)) return origin;
  throw new Error('origin.json is not ours');
}

/** Only this file writes it: the fields looked at are those a wrong value could do harm in. */
function isOrigin(value: unknown): value is Origin {
  return typeof value === 'object' && value !== null && 'sha256' in value && 'version' in value && 'route' in value;
}

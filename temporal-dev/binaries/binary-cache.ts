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

/** Written beside a cached binary: the facts about the file when it was added. */
interface Origin {
  route: string;
  version: string;
  sha256: string;
  sizeBytes: number;
  modifiedMs: number;
}

/**
 * The first writable cache folder for which `isWanted` is true, else the first writable one. Throws a StackError when a
 * folder that the user named is not writable.
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

/** The folder of a binary. Version and platform are part of the path, so an update never finds an old file. */
export function cacheEntry(cache: string, spec: BinarySpec, platform: Platform): string {
  return join(cache, `${spec.name}-${spec.version}-${platform}`);
}

/**
 * The cached binary, if it exists and is still the file that was checked when it was added. The file is treated as unchanged when its size
 * and modification time are unchanged, else when its checksum is. A changed file is deleted.
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
    report(`${path} is damaged (its checksum changed): fetching it again`);
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return undefined;
    report(`${path} cannot be used (${messageOf(error)}): fetching it again`);
  }
  await rm(entry, { recursive: true, force: true });
  return undefined;
}

/**
 * Adds a folder to the cache atomically: `fill` creates it under a temporary name, and a complete folder is renamed. A
 * failure leaves nothing behind.
 */
export async function fillCache(entry: string, fill: (directory: string) => Promise<void>): Promise<void> {
  const directory = `${entry}.${process.pid}-${randomBytes(4).toString('hex')}.part`;
  try {
    await mkdir(directory, { recursive: true });
    await fill(directory);
    await rm(entry, { recursive: true, force: true });
    await rename(directory, entry);
  } catch (error) {
    // Before the deletion: the message says how much disk space was free when the error occurred.
    const fileError = explainFileError(error, entry);
    await rm(directory, { recursive: true, force: true });
    throw fileError;
  }
}

/** Deletes what interrupted fetches of this entry left. The caller must hold the lock of the entry. */
export async function removeUnfinished(cache: string, entry: string): Promise<void> {
  for (const name of await readdir(cache)) {
    const path = join(cache, name);
    if (path.startsWith(`${entry}.`) && path.endsWith('.part')) await rm(path, { recursive: true, force: true });
  }
}

/** Makes a fetched file executable, runs `check` on it, and writes its facts beside it. */
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
  throw new Error('origin.json has unknown content');
}

/** Only this file writes origin.json, so it is enough to check the fields in which a wrong value would do harm. */
function isOrigin(value: unknown): value is Origin {
  return typeof value === 'object' && value !== null && 'sha256' in value && 'version' in value && 'route' in value;
}

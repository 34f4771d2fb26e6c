import { createHash } from 'node:crypto';
import { lstat, mkdir, readdir, readlink, realpath, rm, statfs, symlink } from 'node:fs/promises';
import { userInfo } from 'node:os';
import { basename, join } from 'node:path';
import { resetStack } from '#temporal-dev/stack/reset-stack.ts';

/** A file system in memory, on Linux. */
const memory = '/dev/shm';

const gibibyte = 2 ** 30;

/** What a run of the whole suite needs at most, and what its processes need beside it, in bytes. */
const needed = { folder: 4 * gibibyte, beside: 10 * gibibyte };

/** The folder in which the servers of a run keep their state. */
export interface StateFolder {
  /** Its real path. */
  readonly path: string;
  /** Frees the memory that it takes; the logs stay. */
  release(): Promise<void>;
}

/**
 * A folder of that name. It is a link to one in memory where there is room: each test file copies a database, which is hundreds of
 * small files, and files are made ten times as fast there. What a run that was killed has left is removed.
 * @param path used by one run at a time
 */
export async function openStateFolder(path: string): Promise<StateFolder> {
  const target = (await hasRoom()) ? join(memory, `core-server-${userInfo().uid}`, nameOf(path)) : undefined;
  if ((await linkedFrom(path)) !== target) {
    await removeFormer(path);
    if (target !== undefined) await symlink(target, path);
  }
  await mkdir(target ?? path, { recursive: true });
  return { path: await realpath(path), release: () => (target === undefined ? Promise.resolve() : emptied(target)) };
}

/** Of earlier runs, which had more room or less: perhaps with servers that still go on. */
async function removeFormer(path: string): Promise<void> {
  const former = await realpath(path).catch(() => undefined);
  if (former !== undefined) {
    await resetStack(former, () => {});
    await rm(former, { recursive: true, force: true });
  }
  await rm(path, { recursive: true, force: true });
}

async function hasRoom(): Promise<boolean> {
  const found = await statfs(memory).catch(() => undefined);
  const isLarge = found !== undefined && found.bavail * found.bsize >= needed.folder;
  return isLarge && process.availableMemory() >= needed.folder + needed.beside;
}

/** Folders of several clones have different names. */
function nameOf(path: string): string {
  return `${basename(path)}-${createHash('sha256').update(path).digest('hex').slice(0, 12)}`;
}

/** Where the link leads; undefined for everything else. */
async function linkedFrom(path: string): Promise<string | undefined> {
  const found = await lstat(path).catch(() => undefined);
  return found?.isSymbolicLink() ? readlink(path) : undefined;
}

async function emptied(folder: string): Promise<void> {
  for (const name of await readdir(folder)) {
    if (name !== 'logs') await rm(join(folder, name), { recursive: true, force: true });
  }
}

import { randomBytes } from 'node:crypto';
import type { BigIntStats } from 'node:fs';
import { link, mkdir, rename, rm, stat, type FileHandle } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { mebibyte } from '#entities/kit/base/mebibyte.ts';
import { readBytes, streamFile, versionOf } from './disk-reads.ts';
import { incoming, removeUnfinishedBefore, removeUnfinishedOf, temporaryPrefix } from './disk-unfinished.ts';
import { makeFolder, modes, synchronize, unlessNoFile, withFile, writeAt } from './durable-files.ts';
import { listFolder } from './list-folder.ts';
import { probeProvider } from './probe-provider.ts';
import {
  StorageError,
  type ByteRange,
  type ObjectPage,
  type PartBody,
  type PartsRef,
  type ReadOptions,
  type StorageFailure,
  type StoredPart,
  type StorageProvider,
  type WriteOptions,
} from '../provider.ts';
import { changed, partsMissing } from '../storage-failures.ts';

const keyForm = /^[\w-][\w.-]*(?:\/[\w-][\w.-]*)*$/;

/** Whether nothing is known to be stored in the folder, so that it may not exist. */
type IsUnused = () => Promise<boolean>;

/**
 * Objects as files of one folder. A file is written under another name, synchronized, and renamed; then its folder is synchronized. So
 * what has a key is complete, also after a loss of power. Where something is stored, a folder that does not exist makes no object
 * missing: its disk is not mounted.
 */
export class DiskProvider implements StorageProvider {
  /** Every part is synchronized, so they are larger than they have to be. */
  readonly partRules = { minBytes: 4 * mebibyte, maxParts: 100_000 } as const;
  readonly #folder: string;

  readonly #isUnused: IsUnused;

  constructor(folder: string, isUnused: IsUnused = async () => true) {
    this.#folder = folder;
    this.#isUnused = isUnused;
  }

  put(key: string, body: PartBody, _contentType: string, options?: WriteOptions): Promise<string> {
    return translated(async () => {
      const temporary = this.#newName(key);
      try {
        await this.#create(temporary, async (handle) => {
          await writeAt(handle, body, 0, options);
          await handle.sync();
        });
        return await this.#publish(temporary, key, options);
      } catch (error) {
        await rm(temporary, { force: true });
        throw error;
      }
    });
  }

  beginParts(key: string, _contentType: string, partBytes: number): Promise<PartsRef> {
    return translated(async () => {
      const file = this.#newName(key);
      await this.#create(file, (handle) => handle.sync());
      await synchronize(dirname(file));
      return { key, file: file.slice(this.#folder.length + 1), partBytes };
    });
  }

  /** Writes the part where it belongs in the one file of all parts. */
  putPart(ref: PartsRef, number: number, body: PartBody, options?: WriteOptions): Promise<string> {
    const { file, partBytes } = this.#partsOf(ref);
    return this.#inFolder(() =>
      withFile(file, 'r+', async (handle) => {
        const written = await writeAt(handle, body, (number - 1) * partBytes, options);
        await handle.datasync();
        return String(written);
      }),
    );
  }

  finishParts(ref: PartsRef, parts: readonly StoredPart[], options: WriteOptions = {}): Promise<string> {
    const { key, file } = this.#partsOf(ref);
    const sizeBytes = parts.reduce((sum, part) => sum + part.sizeBytes, 0);
    return this.#inFolder(async () => {
      const isThere = await withFile(file, 'r+', async (handle) => {
        const { size } = await handle.stat();
        if (size < sizeBytes) throw new StorageError('broken', `The parts of ${key} have less bytes than were stored.`);
        // Parts of a longer object that the new one does not have.
        if (size > sizeBytes) await handle.truncate(sizeBytes);
        await handle.sync();
        return true;
      }).catch(unlessNoFile(false));
      if (isThere) return this.#publish(file, key, options);
      // They were finished before, perhaps by a process that ended before it synchronized the folder.
      const finished = await this.#stat(key);
      if (Number(finished.size) !== sizeBytes) throw partsMissing(key);
      await synchronize(dirname(this.#path(key)));
      return versionOf(finished);
    });
  }

  abortParts(ref: PartsRef): Promise<void> {
    const { file } = this.#partsOf(ref);
    return this.#inFolder(async () => {
      await rm(file, { force: true });
      await this.#requireFolder();
    });
  }

  read(key: string, options: ReadOptions = {}): ReturnType<StorageProvider['read']> {
    return this.#inFolder(() => streamFile(this.#path(key), key, options));
  }

  readShort(key: string, wanted: { readonly range: ByteRange; readonly version: string }): Promise<Buffer> {
    return this.#inFolder(() => readBytes(this.#path(key), key, wanted));
  }

  head(key: string): ReturnType<StorageProvider['head']> {
    return this.#inFolder(async () => {
      const found = await this.#stat(key).catch(unlessNoFile(undefined));
      if (!found) await this.#requireFolder();
      return found && { sizeBytes: Number(found.size), version: versionOf(found) };
    });
  }

  /** Gives the file a second name, so its bytes are not copied; both names survive each other. */
  copy(from: string, to: string, { ifVersion }: { readonly ifVersion: string }): Promise<string> {
    return translated(async () => {
      const temporary = this.#newName(to);
      await this.#makeIncoming();
      try {
        await link(this.#path(from), temporary);
        // Asked of the new name: the old one may be replaced meanwhile.
        if (versionOf(await stat(temporary, { bigint: true })) !== ifVersion) throw changed(from);
        return await this.#publish(temporary, to);
      } finally {
        // A rename onto another name of the same file does nothing.
        await rm(temporary, { force: true });
      }
    });
  }

  delete(keys: readonly string[]): Promise<void> {
    return this.#inFolder(async () => {
      const paths = keys.map((key) => this.#path(key));
      for (const path of paths) await rm(path, { force: true });
      for (const folder of new Set(paths.map(dirname))) await synchronize(folder).catch(unlessNoFile(undefined));
      await removeUnfinishedOf(this.#folder, keys);
      await this.#requireFolder();
    });
  }

  removeUnfinished(prefix: string, before: Date): Promise<void> {
    return this.#inFolder(() => removeUnfinishedBefore(this.#folder, prefix, before));
  }

  list(prefix: string, after?: string): Promise<ObjectPage> {
    return this.#inFolder(async () => {
      const page = await listFolder(this.#folder, prefix, after);
      await this.#requireFolder();
      return page;
    });
  }

  probe(): Promise<void> {
    return probeProvider(this);
  }

  #path(key: string): string {
    if (!keyForm.test(key)) throw new Error(`${JSON.stringify(key)} is not the key of an object`);
    return join(this.#folder, key);
  }

  async #stat(key: string): Promise<BigIntStats> {
    return stat(this.#path(key), { bigint: true });
  }

  #partsOf({ key, file, partBytes }: PartsRef): { key: string; file: string; partBytes: number } {
    return { key: String(key), file: join(this.#folder, String(file)), partBytes: Number(partBytes) };
  }

  /** A name that no file has yet. */
  #newName(key: string): string {
    // Also checks the key.
    this.#path(key);
    return join(this.#folder, incoming, `${temporaryPrefix(key)}${randomBytes(12).toString('hex')}`);
  }

  /** Creates a file that is not complete, and its folder if need be. */
  async #create(path: string, write: (handle: FileHandle) => Promise<unknown>): Promise<void> {
    const create = () => withFile(path, 'wx', write);
    await create().catch(async (error: unknown) => {
      if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
      await this.#makeIncoming();
      await create();
    });
  }

  async #makeIncoming(): Promise<void> {
    const folder = join(this.#folder, incoming);
    await mkdir(folder, { mode: modes.folder }).catch(async ({ code }: NodeJS.ErrnoException) => {
      if (code === 'ENOENT') await this.#makeFolder();
    });
    await makeFolder(folder);
  }

  async #makeFolder(): Promise<void> {
    if (!(await this.#isUnused())) throw noFolder(this.#folder);
    await makeFolder(this.#folder);
  }

  /** @throws StorageError unavailable */
  async #requireFolder(): Promise<void> {
    const isThere = await stat(this.#folder).then(() => true, unlessNoFile(false));
    if (!isThere && !(await this.#isUnused())) throw noFolder(this.#folder);
  }

  /** A missing file is missing only if the folder exists. */
  #inFolder<T>(work: () => Promise<T>): Promise<T> {
    return translated(async () => {
      try {
        return await work();
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code === 'ENOENT') await this.#requireFolder();
        throw error;
      }
    });
  }

  async #publish(temporary: string, key: string, { signal }: WriteOptions = {}): Promise<string> {
    const path = this.#path(key);
    const version = versionOf(await stat(temporary, { bigint: true }));
    // A disk may answer after the upload was given up, and what was stored of it removed.
    signal?.throwIfAborted();
    await rename(temporary, path).catch(async (error: unknown) => {
      if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
      await makeFolder(dirname(path));
      await rename(temporary, path);
    });
    await synchronize(dirname(path));
    return version;
  }
}

function noFolder(folder: string): StorageError {
  return new StorageError(
    'unavailable',
    `The folder ${folder} does not exist, although files are stored in it: mount its disk, or make the folder empty again if they are lost.`,
  );
}

const failures: Readonly<Record<string, StorageFailure>> = { ENOENT: 'missing', ENOSPC: 'full', EDQUOT: 'full' };

/** Errors of the file system become those of storage; all others are bugs. */
async function translated<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    const { code, syscall, message } = error as NodeJS.ErrnoException;
    if (code === undefined || syscall === undefined) throw error;
    throw new StorageError(failures[code] ?? 'unavailable', message, { cause: error });
  }
}

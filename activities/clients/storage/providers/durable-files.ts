import { mkdir, open, type FileHandle } from 'node:fs/promises';
import { dirname } from 'node:path';
import { piecesOf } from '../receiving/part-body.ts';
import type { PartBody, WriteOptions } from '../provider.ts';

/** The group may read, so that another server can serve the folder (`disk.endpoint`). */
export const modes = { file: 0o640, folder: 0o750 } as const;

/** Uses an open file, which is closed afterwards. */
export async function withFile<T>(path: string, flags: string, use: (handle: FileHandle) => Promise<T>): Promise<T> {
  const handle = await open(path, flags, modes.file);
  try {
    return await use(handle);
  } finally {
    await handle.close();
  }
}

/** @returns the number of bytes */
export async function writeAt(
  handle: FileHandle,
  body: PartBody,
  start: number,
  options: WriteOptions = {},
): Promise<number> {
  let position = start;
  const write = async (pieces: readonly Buffer[]) => {
    let rest = pieces;
    while (rest.length > 0) {
      const { bytesWritten } = await handle.writev(rest, position);
      position += bytesWritten;
      rest = withoutFirst(rest, bytesWritten);
    }
  };
  if ('file' in body) for await (const piece of piecesOf(body, options, { reuses: true })) await write([piece]);
  // One call writes all of them.
  else await write(body.filter(({ length }) => length > 0));
  options.signal?.throwIfAborted();
  return position - start;
}

function withoutFirst(pieces: readonly Buffer[], bytes: number): readonly Buffer[] {
  let left = bytes;
  let index = 0;
  for (let piece = pieces[0]; piece && piece.length <= left; piece = pieces[index]) {
    left -= piece.length;
    index += 1;
  }
  const [first, ...others] = pieces.slice(index);
  return first ? [first.subarray(left), ...others] : [];
}

/** Creates a folder and those above it; the names of new ones survive a loss of power. */
export async function makeFolder(path: string): Promise<void> {
  const first = await mkdir(path, { recursive: true, mode: modes.folder });
  if (first === undefined) return;
  for (let folder = dirname(path); folder.length >= dirname(first).length; folder = dirname(folder)) {
    await synchronize(folder);
    if (folder === dirname(folder)) return;
  }
}

/** Synchronizations of folders that are under way, and those that begin after them. */
const underWay = new Map<string, Promise<void>>();
const next = new Map<string, Promise<void>>();

/** Makes the names in a folder durable. Requests during one share the one after it. */
export function synchronize(folder: string): Promise<void> {
  const shared = next.get(folder);
  if (shared) return shared;
  const begin = () => {
    next.delete(folder);
    const own = withFile(folder, 'r', (handle) => handle.sync()).finally(() => underWay.delete(folder));
    underWay.set(folder, own);
    return own;
  };
  const before = underWay.get(folder);
  if (!before) return begin();
  const after = before.then(begin, begin);
  next.set(folder, after);
  return after;
}

/** For `catch`: a result in place of the failure that a file does not exist. */
export function unlessNoFile<T>(instead: T): (error: unknown) => T {
  return (error) => {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return instead;
    throw error;
  };
}

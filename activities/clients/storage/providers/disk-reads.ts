import { closeSync, createReadStream, fstatSync, open, read, type BigIntStats } from 'node:fs';
import { promisify } from 'node:util';
import { pieceBytes } from '../receiving/part-body.ts';
import { StorageError, type ByteRange, type ReadOptions, type StorageProvider } from '../provider.ts';
import { changed } from '../storage-failures.ts';

const openFile = promisify(open);
const readFile = promisify(read);

/** The version of a file's content. The inode distinguishes two files that were written within the resolution of the clock of files. */
export function versionOf({ size, mtimeNs, ino }: BigIntStats): string {
  return [size, mtimeNs, ino].map((value) => value.toString(36)).join('-');
}

/** Without the inode, which is another one after the folder was moved to another disk. */
function hasContentOf(version: string, found: BigIntStats): boolean {
  const withoutInode = (text: string) => text.slice(0, text.lastIndexOf('-'));
  return withoutInode(version) === withoutInode(versionOf(found));
}

/**
 * Opens the file of an object as a descriptor, because each call of a file handle costs a promise more.
 * @param version the content that is wanted; undefined takes any
 * @returns what the caller closes
 * @throws StorageError changed; errors of the file system as they are
 */
async function openVersion(path: string, key: string, version?: string): Promise<{ fd: number; found: BigIntStats }> {
  const fd = await openFile(path, 'r');
  try {
    // Known since it was opened: another pass through the thread pool would cost more than the call.
    const found = fstatSync(fd, { bigint: true });
    if (version !== undefined && !hasContentOf(version, found)) throw changed(key);
    return { fd, found };
  } catch (error) {
    closeSync(fd);
    throw error;
  }
}

/**
 * Opens a file, or a range of it, as a stream that its reader ends. The size is that of the whole file.
 * @throws StorageError changed; errors of the file system as they are
 */
export async function streamFile(
  path: string,
  key: string,
  { range, version, signal }: ReadOptions,
): ReturnType<StorageProvider['read']> {
  const { fd, found } = await openVersion(path, key, version);
  try {
    const bounds = range ? { start: range.first, end: range.last } : {};
    const stream = createReadStream('', { fd, ...bounds, highWaterMark: pieceBytes, signal });
    return { stream, sizeBytes: Number(found.size), version: versionOf(found) };
  } catch (error) {
    closeSync(fd);
    throw error;
  }
}

/**
 * Opens and reads in the thread pool, and does the rest at once: a stream would take it four passes, and a dozen events.
 * @throws StorageError changed, broken; errors of the file system as they are
 */
export async function readBytes(
  path: string,
  key: string,
  { range, version }: { readonly range: ByteRange; readonly version: string },
): Promise<Buffer> {
  const { fd } = await openVersion(path, key, version);
  try {
    const length = range.last - range.first + 1;
    const { bytesRead, buffer } = await readFile(fd, Buffer.allocUnsafeSlow(length), 0, length, range.first);
    if (bytesRead < length) throw new StorageError('broken', `${key} has less bytes than were stored.`);
    return buffer;
  } finally {
    closeSync(fd);
  }
}

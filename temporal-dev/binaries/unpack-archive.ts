import { mkdir, writeFile } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { gunzipSync } from 'node:zlib';
import { extract } from 'tar-stream';
import { fromBufferPromise } from 'yauzl';
import { messageOf, StackError } from '../machine/stack-error.ts';

// The size of the content is not limited: the pinned checksum of an archive is verified before it is unpacked.

/** The content of the file with this name, in any folder of a gzipped tar archive. Throws a StackError when there is none. */
export async function fileFromTarGz(archive: Buffer, name: string): Promise<Buffer> {
  try {
    const entries = extract();
    entries.end(gunzipSync(archive));
    for await (const entry of entries) {
      const { name: path, type } = entry.header;
      if (type === 'file' && basename(path) === name) return await buffer(entry);
      entry.resume();
    }
  } catch (error) {
    throw damaged(error);
  }
  throw new StackError(`the archive does not contain ${name}`);
}

/** The content of the file whose path ends with `suffix` in a zip archive (a wheel is one). Throws a StackError when there is none. */
export async function fileFromZip(archive: Buffer, suffix: string): Promise<Buffer> {
  for await (const { content } of zipFiles(archive, (path) => path.endsWith(suffix))) return content;
  throw new StackError(`the archive does not contain …${suffix}`);
}

/** Writes the files of a zip archive for which `isWanted` is true below `directory`. Throws a StackError for a damaged one. */
export async function unpackZip(
  archive: Buffer,
  directory: string,
  isWanted: (name: string) => boolean,
): Promise<void> {
  for await (const { name, content, isExecutable } of zipFiles(archive, isWanted)) {
    const path = join(directory, name);
    await mkdir(dirname(path), { recursive: true });
    await writeFile(path, content, { mode: isExecutable ? 0o755 : 0o644 });
  }
}

interface ZippedFile {
  name: string;
  content: Buffer;
  isExecutable: boolean;
}

/** The wanted files. The library refuses names that leave the folder in which they are unpacked. */
async function* zipFiles(archive: Buffer, isWanted: (name: string) => boolean): AsyncGenerator<ZippedFile> {
  try {
    const zip = await fromBufferPromise(archive);
    for await (const entry of zip.eachEntry()) {
      const { fileName: name, externalFileAttributes } = entry;
      if (name.endsWith('/') || !isWanted(name)) continue;
      const content = await buffer(await zip.openReadStreamPromise(entry));
      // The upper half of the external attributes is the file mode of Unix.
      yield { name, content, isExecutable: ((externalFileAttributes >>> 16) & 0o100) !== 0 };
    }
  } catch (error) {
    throw damaged(error);
  }
}

function damaged(error: unknown): StackError {
  return new StackError(`the archive cannot be unpacked: ${messageOf(error)}`, { cause: error });
}

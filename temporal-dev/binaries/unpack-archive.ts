import { mkdir, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { crc32, gunzipSync, inflateRawSync } from 'node:zlib';
import { messageOf, StackError } from '../machine/stack-error.ts';

/** Maximum unpacked size, bytes; all binaries are smaller. */
const MAX_UNPACKED_BYTES = 512 * 1024 * 1024;

/** The content of the file with this name, in any folder of a gzipped tar archive. Throws a StackError when there is none. */
export function fileFromTarGz(archive: Buffer, name: string): Buffer {
  const tar = unpack(() => gunzipSync(archive, { maxOutputLength: MAX_UNPACKED_BYTES }));
  for (let offset = 0; offset + 512 <= tar.length;) {
    const header = tar.subarray(offset, offset + 512);
    const path = textUntilNul(header.subarray(0, 100));
    if (path === '') break;
    const size = Number.parseInt(textUntilNul(header.subarray(124, 136)).trim(), 8);
    const isFile = header[156] === TAR_FILE || header[156] === 0;
    if (isFile && path.split('/').at(-1) === name) return tar.subarray(offset + 512, offset + 512 + size);
    offset += 512 + Math.ceil(size / 512) * 512;
  }
  throw new StackError(`the archive does not contain ${name}`);
}

const TAR_FILE = '0'.charCodeAt(0);

function textUntilNul(field: Buffer): string {
  const end = field.indexOf(0);
  return field.subarray(0, end === -1 ? field.length : end).toString('latin1');
}

/**
 * The content of the file whose path ends with `suffix` in a zip archive (a wheel is one). Throws a StackError when there
 * is none or its content is damaged.
 */
export function fileFromZip(archive: Buffer, suffix: string): Buffer {
  for (const entry of zipEntries(archive)) if (entry.name.endsWith(suffix)) return zipContent(archive, entry);
  throw new StackError(`the archive does not contain …${suffix}`);
}

/** Writes the files of a zip archive for which `isWanted` is true below `directory`. Throws a StackError for a damaged one. */
export async function unpackZip(
  archive: Buffer,
  directory: string,
  isWanted: (name: string) => boolean,
): Promise<void> {
  for (const entry of zipEntries(archive)) {
    if (entry.name.endsWith('/') || !isWanted(entry.name)) continue;
    const path = join(directory, entry.name);
    if (!path.startsWith(join(directory, '/'))) throw new StackError(`the archive contains ${entry.name}: not used`);
    await mkdir(dirname(path), { recursive: true });
    await writeFile(path, zipContent(archive, entry), { mode: entry.isExecutable ? 0o755 : 0o644 });
  }
}

interface ZipEntry {
  name: string;
  isExecutable: boolean;
  method: number;
  checksum: number;
  packedSize: number;
  /** Offset of the header that precedes the content. */
  local: number;
}

/** The entries of the archive's directory. Layout: APPNOTE.TXT 4.3.7, 4.3.12, 4.3.16. */
function* zipEntries(archive: Buffer): Generator<ZipEntry> {
  const end = archive.lastIndexOf(ZIP_END_OF_DIRECTORY);
  if (end === -1) throw new StackError('the archive is truncated or not a zip file');
  const entries = archive.readUInt16LE(end + 10);
  let offset = archive.readUInt32LE(end + 16);
  for (let index = 0; index < entries; index += 1) {
    const nameLength = archive.readUInt16LE(offset + 28);
    yield {
      name: archive.toString('utf8', offset + 46, offset + 46 + nameLength),
      // The upper half of the external attributes is the file mode of Unix.
      isExecutable: ((archive.readUInt32LE(offset + 38) >>> 16) & 0o100) !== 0,
      method: archive.readUInt16LE(offset + 10),
      checksum: archive.readUInt32LE(offset + 16),
      packedSize: archive.readUInt32LE(offset + 20),
      local: archive.readUInt32LE(offset + 42),
    };
    offset += 46 + nameLength + archive.readUInt16LE(offset + 30) + archive.readUInt16LE(offset + 32);
  }
}

const ZIP_END_OF_DIRECTORY = Buffer.from('504b0506', 'hex');

function zipContent(archive: Buffer, { local, packedSize, method, checksum }: ZipEntry): Buffer {
  const start = local + 30 + archive.readUInt16LE(local + 26) + archive.readUInt16LE(local + 28);
  const packed = archive.subarray(start, start + packedSize);
  const content = method === 0 ? packed : unpack(() => inflateRawSync(packed, { maxOutputLength: MAX_UNPACKED_BYTES }));
  if (crc32(content) !== checksum) throw new StackError('the archive is damaged: the checksum inside it differs');
  return content;
}

function unpack(inflate: () => Buffer): Buffer {
  try {
    return inflate();
  } catch (error) {
    throw new StackError(`the archive cannot be unpacked: ${messageOf(error)}`, { cause: error });
  }
}

import { createHash } from 'node:crypto';
import { join } from 'node:path';

/** File systems take names of up to 255 bytes; a longer one than this keeps its start and gets a digest. */
const maxNameLength = 200;

/** Folder below `testdir` with the mails to an address, percent-encoded as a file name. */
export function mailFolder(testdir: string, address: string): string {
  const name = encodeURIComponent(address).replaceAll('%40', '@').replace(/^\.+/, '_');
  return join(testdir, name.length <= maxNameLength ? name : `${name.slice(0, maxNameLength - 33)}~${digestOf(name)}`);
}

/** 128 bits in hexadecimal: short enough for a file name, long enough to be unique. */
export function digestOf(text: string): string {
  return createHash('sha256').update(text).digest('hex').slice(0, 32);
}

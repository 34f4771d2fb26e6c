import { constants } from 'node:fs';
import { open } from 'node:fs/promises';

/** Maximum size of a file. A larger file is not a configuration. */
const maxBytes = 1_048_576;

const reasons: Readonly<Record<string, { reason: string; remedy: string }>> = {
  ENOENT: { reason: 'does not exist', remedy: 'create it, or name another file' },
  ENOTDIR: { reason: 'does not exist', remedy: 'create it, or name another file' },
  EACCES: { reason: 'is not readable', remedy: 'grant this user read access' },
  EPERM: { reason: 'is not readable', remedy: 'grant this user read access' },
  EISDIR: { reason: 'is a directory', remedy: 'name a file' },
  ELOOP: { reason: 'is a link to itself', remedy: 'name a file' },
};

/** Why a file cannot be read, as a clause, and what to do. */
export interface FileFailure {
  readonly reason: string;
  readonly remedy: string;
  /** The file does not exist. */
  readonly isMissing: boolean;
}

function failure(reason: string, remedy: string, isMissing = false): FileFailure {
  return { reason, remedy, isMissing };
}

/** The code of a system error: `ENOENT`. */
export function errorCode(error: unknown): string {
  return error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : 'unknown error';
}

/** Reads a small UTF-8 file. Returns the text without byte order mark, or the reason why it cannot be read. */
export async function readTextFile(path: string): Promise<string | FileFailure> {
  if (path === '' || path.includes('\0')) return failure('is not a file name', 'name a file');
  let bytes: Buffer;
  try {
    // Non-blocking, so that a named pipe without a writer fails the check below instead of waiting forever.
    await using file = await open(path, constants.O_RDONLY | constants.O_NONBLOCK);
    const status = await file.stat();
    if (!status.isFile())
      return failure(status.isDirectory() ? 'is a directory' : 'is not a regular file', 'name a file');
    if (status.size > maxBytes) return failure(`is larger than ${maxBytes} bytes`, 'name the right file');
    bytes = await file.readFile();
  } catch (error) {
    const code = errorCode(error);
    const known = reasons[code];
    return failure(known?.reason ?? `cannot be read (${code})`, known?.remedy ?? 'check the file', code === 'ENOENT');
  }
  if (bytes.includes(0)) return failure('contains a NUL byte', 'save it as UTF-8 text');
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    return failure('is not UTF-8', 'save it as UTF-8 text');
  }
}

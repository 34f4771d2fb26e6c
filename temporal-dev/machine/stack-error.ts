import { statfsSync } from 'node:fs';
import { dirname } from 'node:path';

/**
 * A condition the person at the keyboard can mend. The message says what happened, with which value, and what to do;
 * callers print it without a stack trace and exit with a code other than 0.
 */
export class StackError extends Error {
  override name = 'StackError';
}

/** The message of anything that was thrown. */
export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

/** The `code` of a system error (`ENOSPC`, `EACCES`, …), if it has one. */
export function codeOf(error: unknown): string | undefined {
  const code: unknown = error instanceof Error && 'code' in error ? error.code : undefined;
  return typeof code === 'string' ? code : undefined;
}

/** Free space in bytes on the disk that holds `path` or its nearest existing parent. */
export function freeBytes(path: string): number {
  for (let candidate = path; ; candidate = dirname(candidate)) {
    try {
      const { bavail, bsize } = statfsSync(candidate);
      return bavail * bsize;
    } catch (error) {
      if (codeOf(error) !== 'ENOENT' || candidate === dirname(candidate)) return Number.POSITIVE_INFINITY;
    }
  }
}

/**
 * Words a file-system failure under `path` for the person who has to mend it; anything else is returned as it came.
 * Usage: `catch (error) { throw explainFileError(error, path) }`.
 */
export function explainFileError(error: unknown, path: string): unknown {
  const code = codeOf(error);
  if (code === 'ENOSPC' || code === 'EDQUOT') return new DiskFullError(path, { cause: error });
  if (code !== 'EACCES' && code !== 'EPERM' && code !== 'EROFS') return error;
  return new StackError(
    `cannot write to ${path} (${messageOf(error)}): run as the user it belongs to, or make it writable for you`,
    { cause: error },
  );
}

/** The disk that holds `path` has no room left, or too little to begin with. */
export class DiskFullError extends StackError {
  override name = 'DiskFullError';

  constructor(path: string, options?: ErrorOptions) {
    const megabytes = Math.floor(freeBytes(path) / 1024 / 1024);
    super(`the disk of ${path} has no room (${megabytes} MB left): free some space and start again`, options);
  }
}

/** How programs of all kinds word a full disk. */
export function saysDiskFull(output: string): boolean {
  return /no space left on device|disk quota exceeded/i.test(output);
}

import { statfsSync } from 'node:fs';
import { dirname } from 'node:path';

/**
 * A problem that the user can fix. The message says what happened, with which value, and what to do. Callers print it
 * without a stack trace and exit with a code other than 0.
 */
export class StackError extends Error {
  override name = 'StackError';
}

/** The message of a thrown value. */
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
 * Translates a file-system error below `path` into a StackError that says what to do. Other errors are returned unchanged.
 * Usage: `catch (error) { throw explainFileError(error, path) }`.
 */
export function explainFileError(error: unknown, path: string): unknown {
  const code = codeOf(error);
  if (code === 'ENOSPC' || code === 'EDQUOT') return new DiskFullError(path, { cause: error });
  if (code !== 'EACCES' && code !== 'EPERM' && code !== 'EROFS') return error;
  return new StackError(
    `cannot write to ${path} (${messageOf(error)}): run as the user who owns it, or make it writable for this user`,
    { cause: error },
  );
}

/** The disk of `path` has too little free space. */
export class DiskFullError extends StackError {
  override name = 'DiskFullError';

  constructor(path: string, options?: ErrorOptions) {
    const megabytes = Math.floor(freeBytes(path) / 1024 / 1024);
    super(`the disk of ${path} is full (${megabytes} MB free): free some space and start again`, options);
  }
}

/** Whether the output of a program says that the disk is full. */
export function saysDiskFull(output: string): boolean {
  return /no space left on device|disk quota exceeded/i.test(output);
}

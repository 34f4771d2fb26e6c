import { closeSync, fstatSync, openSync, readFileSync, renameSync, statSync } from 'node:fs';
import { explainFileError } from '../machine/stack-error.ts';

/** A log of this size is renamed at the next start. */
const MAX_LOG_BYTES = 32 * 1024 * 1024;

/** Opens a log for appending. Throws a StackError when that is not permitted. */
export function openLog(path: string): number {
  try {
    if (logSize(path) > MAX_LOG_BYTES) renameSync(path, `${path}.old`);
    return openSync(path, 'a', 0o600);
  } catch (error) {
    throw explainFileError(error, path);
  }
}

/** The current size of a log, to find later what was added; 0 when there is none. */
export function logSize(path: string): number {
  return statSync(path, { throwIfNoEntry: false })?.size ?? 0;
}

/** The text of a log after `offset`. With the size of the log before a start, it is the text of that run only. */
export function logFrom(path: string, offset: number): string {
  const descriptor = openSync(path, 'r');
  try {
    // A log that became too large was renamed at the start.
    const from = fstatSync(descriptor).size < offset ? 0 : offset;
    return readFileSync(descriptor).subarray(from).toString();
  } finally {
    closeSync(descriptor);
  }
}

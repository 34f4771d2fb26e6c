import { createReadStream, statSync } from 'node:fs';
import { pipeline } from 'node:stream/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { codeOf, StackError } from '../machine/stack-error.ts';

/** Writes a log to `output`. With `isFollowing`, continues with new lines until `signal` is aborted. */
export async function printLog(
  path: string,
  output: NodeJS.WritableStream,
  options: { isFollowing: boolean; signal?: AbortSignal },
): Promise<void> {
  let position = 0;
  do {
    const size = sizeOf(path);
    if (size < position) position = 0; // The log was replaced by a new file.
    if (size > position) {
      await pipeline(createReadStream(path, { start: position, end: size - 1 }), output, { end: false });
      position = size;
    }
    if (options.isFollowing) await sleep(200, undefined, { signal: options.signal }).catch(() => {});
  } while (options.isFollowing && options.signal?.aborted !== true);
}

function sizeOf(path: string): number {
  try {
    return statSync(path).size;
  } catch (error) {
    if (codeOf(error) === 'ENOENT')
      throw new StackError(`there is no log ${path}: the server has not been started in this folder`);
    throw error;
  }
}

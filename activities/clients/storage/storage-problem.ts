import { AppError } from '#entities/kit/base/errors.ts';
import { StorageError } from './provider.ts';

/** Seconds after which a client may try again what the object storage could not do. */
const retryAfterSeconds = 5;

/** The error for a client whose file cannot be stored or read now. @param cause for operators */
export function storageUnavailable(message: string, cause?: unknown): AppError {
  return new AppError('storage_unavailable', message, { details: { retryAfterSeconds }, cause });
}

/** Codes of errors of the file system that mean that there is no room for temporary files. */
const full = new Set(['ENOSPC', 'EDQUOT', 'EMFILE', 'ENFILE']);

/** Error for the client when a provider, or the disk with temporary files, fails to store; other errors stay as they are. */
export function writeProblem(error: unknown): unknown {
  const isFull = full.has((error as NodeJS.ErrnoException | undefined)?.code ?? '');
  if (!(error instanceof StorageError) && !isFull) return error;
  const message =
    isFull || (error as StorageError).failure === 'full'
      ? 'There is no room for the file at the moment; nothing was stored. Try again later.'
      : 'The storage of files cannot be used at the moment; nothing was stored. Try again.';
  return storageUnavailable(message, error);
}

/** Error for the client when a file cannot be read; any other error stays as it is. */
export function readProblem(error: unknown): unknown {
  if (!(error instanceof StorageError)) return error;
  switch (error.failure) {
    case 'missing':
      return new AppError('not_found', 'The content of the file does not exist any more.', { cause: error });
    case 'full':
    case 'unavailable':
      return storageUnavailable('The object storage cannot be reached; try again later.', error);
    case 'changed':
    case 'broken':
      break;
  }
  return storageUnavailable('The object storage did not keep the file as it was stored; try again later.', error);
}

import { StorageError } from './provider.ts';

export function missing(key: string): StorageError {
  return new StorageError('missing', `The object ${key} does not exist.`);
}

export function changed(key: string): StorageError {
  return new StorageError('changed', `The object ${key} is not the one that was read before.`);
}

export function partsMissing(key: string): StorageError {
  return new StorageError('missing', `The parts of ${key} do not exist any more.`);
}

/** For `catch`: a result in place of the failure that an object does not exist. */
export function unlessMissing<T>(instead: T): (error: unknown) => T {
  return (error) => {
    if (error instanceof StorageError && error.failure === 'missing') return instead;
    throw error;
  };
}

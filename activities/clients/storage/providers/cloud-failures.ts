import type { ApiError } from '@google-cloud/storage';
import { StorageError, type StorageFailure } from '../provider.ts';

const failures: Readonly<Record<number, StorageFailure>> = { 404: 'missing', 412: 'changed', 416: 'broken' };

/** Errors of the service and of the connection become those of storage. */
export async function translated<T>(doing: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof StorageError) throw error;
    const { code } = error as Partial<ApiError>;
    throw new StorageError(failures[Number(code)] ?? 'unavailable', `${doing}: ${code ?? (error as Error).name}`, {
      cause: error,
    });
  }
}

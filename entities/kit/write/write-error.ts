import type { EntityModule } from '../model/define.ts';
import { UniqueViolation } from '../storage/database-error.ts';
import { uniqueKeyOf } from '../storage/orm-schema.ts';
import { AppError } from '../base/errors.ts';
import { uniqueConflict } from './unique-conflicts.ts';

/** Translates an error of a write to `AppError`: unique conflicts, with the message of the key, and stale versions. Other errors are returned as they are. */
export function translateWriteError(error: unknown, modules: readonly EntityModule[]): unknown {
  if (error instanceof UniqueViolation) {
    for (const module of modules) {
      const key = uniqueKeyOf(module, error.index);
      if (key) {
        return new AppError('already_exists', key.message, {
          details: { fields: uniqueConflict(key, { module, path: '' }) },
          cause: error,
        });
      }
    }
    return new AppError('already_exists', 'A record with these values already exists.', { cause: error });
  }
  if (error instanceof Error && error.name === 'OptimisticLockError') {
    return new AppError(
      'stale_record',
      'The record was changed by someone else; read it again and repeat the change.',
      { cause: error },
    );
  }
  return error;
}

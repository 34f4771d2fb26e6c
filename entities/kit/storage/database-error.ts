import { AppError, deadlineExceeded, isAppError } from '../base/errors.ts';

interface PostgresError {
  readonly code: string;
  readonly constraint?: string;
  readonly detail?: string;
}

function isPostgresError(error: unknown): error is Error & PostgresError {
  return error instanceof Error && typeof (error as Partial<PostgresError>).code === 'string';
}

/**
 * Node's own socket errors and PostgreSQL's connection classes (08, 57P01…03, 25P03): the server, or the connection, is not
 * there (08P01 is our own mistake in the protocol). Nor is it for us once it refuses our credentials (28) or the database is gone (3D).
 */
const unreachable = new Set([
  'ECONNREFUSED',
  'ECONNRESET',
  'ENOENT',
  'ETIMEDOUT',
  'EPIPE',
  'ENOTFOUND',
  'EAI_AGAIN',
  'EHOSTUNREACH',
  'ENETUNREACH',
  '57P01',
  '57P02',
  '57P03',
  '25P03',
]);

/** SQLSTATE of our own, raised by `write_records` for what was created in an organization that is deleted. */
const deletedOrganization = 'CR404';

/** A unique index that was hit, before its message is known; `index` is the index's name. */
export class UniqueViolation extends Error {
  override readonly name = 'UniqueViolation';
  readonly index: string;

  constructor(index: string, cause: unknown) {
    super(`unique index ${index} was violated`, { cause });
    this.index = index;
  }
}

/**
 * The one translation from database errors to ours (PostgreSQL appendix A, error codes). What is not translated is a
 * bug and stays what it is: it is masked at the edge and logged with the request id.
 */
export function databaseError(error: unknown): unknown {
  if (isAppError(error) || !isPostgresError(error)) return connectionError(error);
  if (unreachable.has(error.code) || /^(?:08(?!P01)|28|3D)/u.test(error.code)) {
    return new AppError('database_unavailable', 'The database cannot be reached; try again in a moment.', {
      details: { retryAfterSeconds: 1 },
      cause: error,
    });
  }
  switch (error.code) {
    case '23505':
      return new UniqueViolation(error.constraint ?? '', error);
    case '23503':
      return new AppError('still_referenced', 'Another record refers to this one, or the record referred to is gone.', {
        cause: error,
      });
    case '23514':
    case '22001':
    case '22003':
    case '22008':
    case '22021':
    case '22P02':
    case '22P05':
      return new AppError('invalid_input', 'A value does not fit its field.', { cause: error });
    case '40001':
    case '40P01':
      return new AppError('stale_record', 'The record was changed by someone else at the same time; try again.', {
        cause: error,
      });
    case deletedOrganization:
      return new AppError('not_found', error.message, { cause: error });
    case '42501':
      return new AppError('permission_denied', 'You may not write this record.', { cause: error });
    case '55P03':
    case '57014':
      return deadlineExceeded(error);
    case '53300':
    case '53400':
      return busy(error);
    default:
      return error;
  }
}

/** Errors of the pool and the driver carry texts instead of codes. */
function connectionError(error: unknown): unknown {
  if (!(error instanceof Error)) return error;
  if (error.message.startsWith('timeout exceeded when trying to connect')) return busy(error);
  if (/Connection terminated|Client has encountered a connection error|not queryable/.test(error.message)) {
    return new AppError('database_unavailable', 'The database connection was lost; nothing was changed.', {
      details: { retryAfterSeconds: 1 },
      cause: error,
    });
  }
  return error;
}

function busy(cause: unknown): AppError {
  return new AppError('database_busy', 'All database connections are in use; try again in a moment.', {
    details: { retryAfterSeconds: 1 },
    cause,
  });
}

import type { databaseRoles } from './orm-schema.ts';
import { archivedMessage } from '../base/archived-message.ts';
import { AppError, concurrentChanges, deadlineExceeded, isAppError } from '../base/errors.ts';

interface PostgresError {
  readonly code: string;
  readonly constraint?: string;
  readonly detail?: string;
}

function isPostgresError(error: unknown): error is Error & PostgresError {
  return error instanceof Error && typeof (error as Partial<PostgresError>).code === 'string';
}

/**
 * Node's socket errors, and PostgreSQL's errors of lost connections and servers that shut down or start. `databaseError` adds
 * the classes 08 (connection; except 08P01, a protocol violation of the client), 28 (credentials) and 3D (unknown database).
 */
const unreachableCodes = new Set([
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

/** SQLSTATE that the SQL function `write_records` raises for a creation in a deleted organization. */
const deletedOrganization = 'CR404';

/** SQLSTATE that it raises for a change in an archived organization. */
const archivedOrganization = 'CR409';

/** SQLSTATE that it raises for a file whose content has been removed. */
const removedContent = 'CR410';

/** SQLSTATE that the SQL function `begin_upload` raises for a caller who has uploaded too much that no record uses. */
const unusedUploads = 'CR422';

/** SQLSTATE that functions of the database raise for a commit in which a hook should have taken part (database-hook.ts). */
const commitWithoutHook = 'CR503';

/** A violation of the unique index named `index`. The kind's message for callers is added later (write/write-error.ts). */
export class UniqueViolation extends Error {
  override readonly name = 'UniqueViolation';
  readonly index: string;

  constructor(index: string, cause: unknown) {
    super(`unique index ${index} was violated`, { cause });
    this.index = index;
  }
}

/**
 * Translates database errors to `AppError` (PostgreSQL, appendix A, error codes). Other errors are bugs and are returned as they
 * are: the APIs mask them and log them with the request id.
 * @param role under which the statement ran. A missing privilege of the system role is a fault of the installation, which a caller
 * did not cause, and which ends when the privilege is granted: activities repeat their work after it.
 */
export function databaseError(error: unknown, role: keyof typeof databaseRoles = 'app'): unknown {
  if (isAppError(error) || !isPostgresError(error)) return connectionError(error);
  if (unreachableCodes.has(error.code) || /^(?:08(?!P01)|28|3D)/u.test(error.code)) {
    return new AppError('database_unavailable', 'The database cannot be reached; try again in a moment.', {
      details: { retryAfterSeconds: 1 },
      cause: error,
    });
  }
  switch (error.code) {
    case '23505':
      return new UniqueViolation(error.constraint ?? '', error);
    case '23503':
      return new AppError(
        'still_referenced',
        'Another record refers to this one, or the target of a reference no longer exists.',
        {
          cause: error,
        },
      );
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
      return concurrentChanges(error);
    case deletedOrganization:
    case removedContent:
      return new AppError('not_found', error.message, { cause: error });
    case archivedOrganization:
      // The text of the database has the name of the field in one API only.
      return new AppError('organization_archived', archivedMessage, { cause: error });
    case unusedUploads:
      return new AppError('limit_exceeded', error.message, { cause: error });
    case '42501':
      if (role === 'system') return error;
      return new AppError('permission_denied', 'You may not write this record.', { cause: error });
    case '55P03':
    case '57014':
      return deadlineExceeded(error);
    case commitWithoutHook:
      return new AppError('database_unavailable', error.message, { details: { retryAfterSeconds: 1 }, cause: error });
    case '53300':
    case '53400':
      return busy(error);
    default:
      return error;
  }
}

/** The error for a connection that is lost during COMMIT: whether PostgreSQL committed is unknown. */
export function commitUnknown(error: unknown): unknown {
  if (!isAppError(error) || error.code !== 'database_unavailable') return error;
  if ((error.cause as { readonly code?: unknown }).code === commitWithoutHook) return error;
  return new AppError(
    'database_unavailable',
    'The database connection was lost during the commit, so the changes may or may not be stored; check before you repeat the request.',
    { details: { retryAfterSeconds: 1 }, cause: error },
  );
}

/** Translates errors of the pool and the driver, which have messages but no codes. */
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

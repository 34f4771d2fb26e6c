import { errorCatalogue, errorCategories, type ErrorCategory, type ErrorCode } from './error-catalogue.ts';

// The one error vocabulary for REST, GraphQL and workflows; its codes are in error-catalogue.ts.

export type { ErrorCode } from './error-catalogue.ts';

/** One problem with one input field. `path` is a JSON pointer into the input (RFC 6901). */
export interface FieldProblem {
  readonly path: string;
  readonly message: string;
  /** Sort of the problem, for programs; only where one answer has problems of many sorts. */
  readonly code?: string;
  /** Place in a text that is an expression, in UTF-16 code units. */
  readonly start?: number;
  readonly end?: number;
}

/** The most problems that one answer reports, so that a thousand wrong rows do not produce an answer of that size. */
export const maxProblems = 100;

interface ErrorDetails {
  /** The problems of single fields, for `invalid_input` and similar codes. */
  readonly fields?: readonly FieldProblem[];
  /** Seconds after which a retry makes sense; becomes the Retry-After header. */
  readonly retryAfterSeconds?: number;
  /** URL at which the required sign-in begins. */
  readonly signInUrl?: string;
  /** HTTP status in place of that of the category, where the configuration chooses one. */
  readonly status?: number;
  /** Header Content-Range: how long the content is of which no such range exists. */
  readonly contentRange?: string;
}

/**
 * An expected failure with a stable code. `message` is shown to the caller: it says what happened, with which value,
 * and what to do. `cause` is for operators and never leaves the process except in logs.
 */
export class AppError extends Error {
  override readonly name = 'AppError';
  readonly code: ErrorCode;
  readonly details: ErrorDetails;

  constructor(code: ErrorCode, message: string, options: { details?: ErrorDetails; cause?: unknown } = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.code = code;
    this.details = options.details ?? {};
  }

  get category(): ErrorCategory {
    return errorCatalogue[this.code].category;
  }

  /** HTTP status of this error's category, unless its details have another one. */
  get status(): number {
    return this.details.status ?? errorCategories[this.category];
  }
}

export function statusOf(code: ErrorCode): number {
  return errorCategories[errorCatalogue[code].category];
}

/** The error for work that missed its deadline. @param cause for operators */
export function deadlineExceeded(cause?: unknown): AppError {
  return new AppError('deadline_exceeded', 'The request took longer than its deadline; nothing was changed.', {
    details: { retryAfterSeconds: 1 },
    cause,
  });
}

export function isAppError(value: unknown): value is AppError {
  return value instanceof AppError;
}

/** The error for work that PostgreSQL ended because of a deadlock or a serialization failure. @param cause for operators */
export function concurrentChanges(cause: unknown): AppError {
  const message = 'Other requests were changing the same records at the same time; nothing was changed. Try again.';
  return new AppError('concurrent_changes', message, { details: { retryAfterSeconds: 1 }, cause });
}

/** Whether the same work can succeed when it is tried again, by the category of its error. */
const canSucceedLater = {
  invalid: false,
  unauthenticated: false,
  denied: false,
  not_found: false,
  method_not_allowed: false,
  not_acceptable: false,
  timeout: true,
  conflict: true,
  precondition_failed: false,
  too_large: false,
  unsupported_media_type: false,
  range_not_satisfiable: false,
  unprocessable: false,
  limited: true,
  headers_too_large: false,
  internal: true,
  unavailable: true,
} as const satisfies Record<ErrorCategory, boolean>;

/** Whether work was refused for a reason that no retry removes: bad input, missing rights, a missing record. */
export function isRefusal(error: unknown): boolean {
  return isAppError(error) && !canSucceedLater[error.category];
}

/**
 * The one error vocabulary for REST, GraphQL and workflows. Codes are a contract: they may be added, never renamed.
 * The generated page docs/reference/errors.md lists them all.
 */

/** Categories of errors, with the HTTP status that each is answered with (RFC 9110). */
const categories = {
  invalid: 400,
  unauthenticated: 401,
  denied: 403,
  not_found: 404,
  method_not_allowed: 405,
  not_acceptable: 406,
  timeout: 408,
  conflict: 409,
  precondition_failed: 412,
  too_large: 413,
  unsupported_media_type: 415,
  range_not_satisfiable: 416,
  unprocessable: 422,
  limited: 429,
  headers_too_large: 431,
  internal: 500,
  unavailable: 503,
} as const;

export type ErrorCategory = keyof typeof categories;

interface CatalogueEntry {
  readonly category: ErrorCategory;
  /** Short, constant summary of the problem type (RFC 9457 `title`). */
  readonly title: string;
}

const entry = (category: ErrorCategory, title: string): CatalogueEntry => ({ category, title });

export const errorCatalogue = {
  invalid_input: entry('invalid', 'The input is not valid.'),
  malformed_request: entry('invalid', 'The request cannot be read.'),
  malformed_body: entry('invalid', 'The request body cannot be read.'),
  invalid_cursor: entry('invalid', 'The page cursor does not belong to this list.'),
  invalid_token: entry('invalid', 'The token is not valid.'),
  token_not_yet_valid: entry('invalid', 'The token cannot be used yet.'),
  token_expired: entry('invalid', 'The token has expired.'),
  invalid_passkey: entry('invalid', 'The passkey was not accepted.'),
  weak_password: entry('invalid', 'The password is too easy to guess.'),
  invalid_signature: entry('unauthenticated', 'The request is not signed as it should be.'),
  invalid_credentials: entry('unauthenticated', 'The sign-in failed.'),
  provider_sign_in_failed: entry('unauthenticated', 'The sign-in at the provider failed.'),
  unauthenticated: entry('unauthenticated', 'Sign in first.'),
  single_sign_on_required: entry('denied', 'The organization requires its single sign-on.'),
  permission_denied: entry('denied', 'You may not do this.'),
  second_factor_required: entry('denied', 'The organization requires a second factor.'),
  step_up_required: entry('denied', 'Prove again who you are.'),
  module_not_enabled: entry('denied', 'The organization does not have this product module.'),
  file_withheld: entry('denied', 'The file is withheld until it has been found clean.'),
  csrf_token_missing: entry('denied', 'The CSRF token is missing.'),
  csrf_token_invalid: entry('denied', 'The CSRF token does not match.'),
  not_found: entry('not_found', 'There is no such record.'),
  route_not_found: entry('not_found', 'There is no such route.'),
  method_not_allowed: entry('method_not_allowed', 'The method is not allowed for this URL.'),
  not_acceptable: entry('not_acceptable', 'None of the accepted media types can be produced.'),
  request_timeout: entry('timeout', 'The request did not arrive in time.'),
  identity_not_linked: entry('conflict', 'The account has not been linked to this identity.'),
  last_way_in: entry('conflict', 'The account has no other way to sign in.'),
  already_exists: entry('conflict', 'A record with this value already exists.'),
  precondition_failed: entry('precondition_failed', 'The record has another version than If-Match says.'),
  protocol_version_unsupported: entry('precondition_failed', 'The version of the protocol is not supported.'),
  stale_record: entry('conflict', 'The record was changed by someone else.'),
  last_owner: entry('conflict', 'The organization would be left without an owner.'),
  organization_archived: entry('conflict', 'The organization is archived.'),
  still_referenced: entry('conflict', 'Other records still refer to this one.'),
  upload_not_ready: entry('conflict', 'The upload is not complete, or is still being checked.'),
  upload_busy: entry('conflict', 'Another request is writing to the upload.'),
  body_too_large: entry('too_large', 'The request body is too large.'),
  headers_too_large: entry('headers_too_large', 'The request headers are too large.'),
  unsupported_media_type: entry('unsupported_media_type', 'The content type is not supported.'),
  file_type_refused: entry('unsupported_media_type', 'The file is of a type that is not accepted here.'),
  range_not_satisfiable: entry('range_not_satisfiable', 'The file has no bytes in the requested range.'),
  checksum_mismatch: entry('unprocessable', 'The content does not have the stated checksum.'),
  limit_exceeded: entry('unprocessable', 'The request asks for more than the limits allow.'),
  too_many_requests: entry('limited', 'Too many requests.'),
  deadline_exceeded: entry('unavailable', 'The request took longer than its deadline.'),
  schema_too_new: entry('unavailable', 'The database belongs to a newer version of the server.'),
  schema_too_old: entry('unavailable', 'The database lacks migrations of this version of the server.'),
  migration_failed: entry('unavailable', 'A migration of the database failed.'),
  database_unavailable: entry('unavailable', 'The database cannot be reached.'),
  database_busy: entry('unavailable', 'All database connections are in use.'),
  concurrent_changes: entry('unavailable', 'Other requests were changing the same records.'),
  authorization_unavailable: entry('unavailable', 'Permissions cannot be decided at the moment.'),
  provider_unavailable: entry('unavailable', 'The sign-in provider cannot be used.'),
  workflows_unavailable: entry('unavailable', 'The workflow service cannot be reached.'),
  storage_unavailable: entry('unavailable', 'The object storage cannot be reached.'),
  storage_disabled: entry('unavailable', 'The installation has no object storage.'),
  overloaded: entry('unavailable', 'Too much other work of this kind is waiting.'),
  shutting_down: entry('unavailable', 'The server is shutting down.'),
  internal: entry('internal', 'An unexpected error occurred on the server.'),
} as const satisfies Record<string, CatalogueEntry>;

export type ErrorCode = keyof typeof errorCatalogue;

/** One problem with one input field. `path` is a JSON pointer into the input (RFC 6901). */
export interface FieldProblem {
  readonly path: string;
  readonly message: string;
}

/** The most problems that one answer reports, so that a thousand wrong rows do not produce an answer of that size. */
export const maxProblems = 100;

export interface ErrorDetails {
  /** The problems of single fields, for `invalid_input` and similar codes. */
  readonly fields?: readonly FieldProblem[];
  /** Seconds after which a retry makes sense; becomes the Retry-After header. */
  readonly retryAfterSeconds?: number;
  /** URL at which the required sign-in begins. */
  readonly signInUrl?: string;
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

  /** HTTP status of this error's category. */
  get status(): number {
    return categories[this.category];
  }
}

/** HTTP status a code is answered with. */
export function statusOf(code: ErrorCode): number {
  return categories[errorCatalogue[code].category];
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

/**
 * All error codes with what they mean, what causes them and what to do. Codes are a contract: they may be added, never renamed. The pages
 * /docs/errors and docs/reference/errors.md are printed from this table.
 */

// Long because it is one table of all codes.

/** Categories of errors, with the HTTP status that each is answered with (RFC 9110). */
export const errorCategories = {
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

export type ErrorCategory = keyof typeof errorCategories;

interface CatalogueEntry {
  readonly category: ErrorCategory;
  /** Short, constant summary of the problem type (RFC 9457 `title`). */
  readonly title: string;
  /** When the error occurs. */
  readonly cause: string;
  /** Action of the caller, or of the operator of the server. */
  readonly remedy: string;
}

function entry(category: ErrorCategory, title: string, cause: string, remedy: string): CatalogueEntry {
  return { category, title, cause, remedy };
}

export const errorCatalogue = {
  invalid_input: entry(
    'invalid',
    'The input is not valid.',
    'A field, a parameter or a filter has a value that is not accepted, is missing, or is not known.',
    'Correct the fields in `errors`: each entry has the path of a field and its problem.',
  ),
  definition_invalid: entry(
    'invalid',
    'The definition of the workflow is not valid.',
    'The document has a key or a value that is not accepted, an expression that does not compile, or an id that the organization does not have.',
    'Correct the problems in `errors`: each has a JSON pointer into the document, a code, and for expressions the place in them. POST /v1/workflow-definitions/validate checks a document without saving it.',
  ),
  malformed_request: entry(
    'invalid',
    'The request cannot be read.',
    'The request is not valid HTTP, its URL cannot be decoded, or a header does not have its form.',
    'Correct the part that the message names; clients that encode URLs by themselves encode each part with percent signs.',
  ),
  malformed_body: entry(
    'invalid',
    'The request body cannot be read.',
    'The body is not JSON, or ends before its announced length.',
    'Send one JSON document in UTF-8; the message names the place at which reading it failed.',
  ),
  invalid_cursor: entry(
    'invalid',
    'The page cursor does not belong to this list.',
    '`after` or `before` is a cursor of another list, of another order, or changed on its way.',
    'Use cursors of the same list with the same order, from `page_info`; or begin again without a cursor.',
  ),
  cursor_expired: entry(
    'invalid',
    'The cursor of the subscription is too old.',
    'Changes are kept for subscribers for a day, and a cursor is valid only in the database that it comes from.',
    'Subscribe without a cursor, then read the records again: they include all changes since.',
  ),
  invalid_token: entry(
    'invalid',
    'The token is not valid.',
    'A link, a challenge or a refresh token is not one of this server, was used before, or was replaced by a newer one.',
    'Request a new one: sign in again, or have the e-mail sent again.',
  ),
  token_not_yet_valid: entry(
    'invalid',
    'The token cannot be used yet.',
    'A refresh token is valid from a quarter of an hour before its access token expires, unless the server is configured otherwise.',
    'Use the access token until the time in the message, then refresh.',
  ),
  token_expired: entry(
    'invalid',
    'The token has expired.',
    'A link, a challenge or a refresh token was used too late.',
    'Request a new one: sign in again, or have the e-mail sent again.',
  ),
  invalid_passkey: entry(
    'invalid',
    'The passkey was not accepted.',
    'The signature of the browser does not belong to the options of this server, or the options are too old.',
    'Begin again: ask for new options, and answer them within a few minutes on a page of this server or of a related origin.',
  ),
  weak_password: entry(
    'invalid',
    'The password is too easy to guess.',
    'The password is easy to guess, or consists of the names or the address of its owner, or of the name of the organization.',
    'Choose a longer password, for example of four unrelated words.',
  ),
  invalid_signature: entry(
    'unauthenticated',
    'The signature of the request is missing or wrong.',
    'The request of another system to a receiver has no signature made with the secret of the receiver, or its signature is too old.',
    'Configure the same secret on both sides, and send the body unchanged and soon after it was signed.',
  ),
  invalid_credentials: entry(
    'unauthenticated',
    'The sign-in failed.',
    'The password, the code or the passkey is wrong, the address has no confirmed account, or the code was used before.',
    'Try again. Set another password with POST /v1/forgot-password; if the authenticator app is lost, use a recovery code.',
  ),
  provider_sign_in_failed: entry(
    'unauthenticated',
    'The sign-in at the provider failed.',
    'The provider refused, its answer does not belong to this sign-in, or it identifies nobody who may sign in here.',
    'Begin the sign-in again in the same browser; where the message names another way, use that.',
  ),
  unauthenticated: entry(
    'unauthenticated',
    'Sign in first.',
    'The request has no credential, or one that has expired, has ended, or was revoked.',
    'Sign in with POST /v1/login and send its access token as `Authorization: Bearer …` or as the cookie; or refresh it with POST /v1/refresh.',
  ),
  single_sign_on_required: entry(
    'denied',
    'The organization requires its single sign-on.',
    'The session began in another way than with the single sign-on that the organization enforces.',
    'Open `sign_in_url` in a browser, or switch to another organization with POST /v1/switch.',
  ),
  permission_denied: entry(
    'denied',
    'You may not do this.',
    'The rules of the kind, the scopes of the token or the way of the sign-in do not allow it, or roles of another organization than the current one are needed.',
    'The message names the people to whom the rules give the right: ask one of them, switch to the organization that the message names, or sign in in the way that it names. Owners and administrators ask `explainAccess` (GraphQL).',
  ),
  no_current_organization: entry(
    'denied',
    'You have no current organization.',
    'The organization of the access token was deleted, requires its single sign-on, or gives the caller no role any more; or the token names none.',
    'GET /v1/organizations lists those of the caller; switch to one with POST /v1/switch, and use the token of the answer.',
  ),
  second_factor_required: entry(
    'denied',
    'The organization requires a second factor.',
    'The organization admits only people with a confirmed authenticator app, and the caller has none.',
    'Set one up with POST /v1/2fa/setup and POST /v1/2fa/confirm, or switch to another organization with POST /v1/switch.',
  ),
  step_up_required: entry(
    'denied',
    'Prove again who you are.',
    'The action is sensitive, and neither the sign-in of this session nor its last proof is younger than ten minutes.',
    'Call POST /v1/2fa/step-up in the same session with `code` or `recovery_code`; without a second factor, with `password`. Then repeat the request.',
  ),
  module_not_enabled: entry(
    'denied',
    'The organization does not have this product module.',
    'The kind of record belongs to a product module that the current organization lacks.',
    'GET /v1/account/features lists the modules that it has; order the module on the page that the message names, or switch to another organization.',
  ),
  payment_method_required: entry(
    'denied',
    'The organization needs a payment method.',
    'The operator requires a payment method for what was asked, and the current organization has none.',
    'Add a payment method on the page that the message names, then repeat the request.',
  ),
  subscription_inactive: entry(
    'denied',
    'The subscription of the organization has ended.',
    'The request has an API token of an organization that has neither a subscription nor a trial. Its records stay.',
    'Subscribe again on the page that the message names; the token then works again.',
  ),
  file_withheld: entry(
    'denied',
    'The file is withheld until it has been found clean.',
    'The organization hands out only files that a scanner has found clean, and has no verdict on this one, or a bad one.',
    'Wait for the verdict (`availability` of the file); managers of the organization turn the rule off in its settings.',
  ),
  idempotency_answer_withheld: entry(
    'denied',
    'The answer to this Idempotency-Key is not sent again.',
    'The first request with the key had its effect. Since then the rights of its caller have changed, or a record that it wrote was deleted or is no longer visible to the caller.',
    'Do not send the request again under another key: it has had its effect. Read the records instead.',
  ),
  csrf_token_missing: entry(
    'denied',
    'The CSRF token is missing.',
    'A request that changes something is authenticated by cookies and does not repeat the CSRF cookie in the header.',
    'Send the value of the cookie `csrf_token`, which each GET request sets, as the header X-Csrf-Token; or, once signed in, send the access token in the header Authorization, which needs no CSRF token. Pages of another host of your domain can read the cookie if `server.csrfprotection.cookiedomain` is the domain.',
  ),
  csrf_token_invalid: entry(
    'denied',
    'The CSRF token does not match.',
    'The header X-Csrf-Token is not the value of the CSRF cookie, or belongs to another session: each sign-in and each switch sets a new one.',
    'Read the cookie `csrf_token` again, and send its value.',
  ),
  foreign_origin: entry(
    'denied',
    'The request comes from a page of another origin.',
    'A subscription came with the cookies of a browser from a page of another website, or without the header Origin.',
    'Operators list the origin in `server.cors.alloworigins`; programs send the header Authorization instead of cookies.',
  ),
  not_found: entry(
    'not_found',
    'There is no such record.',
    'The record does not exist, was deleted, belongs to another organization than the current one, or may not be viewed by the caller; answers do not reveal which.',
    'Check the id (not the display id) in the list of its kind, and in which organization you act: GET /v1/account/userinfo says so, and the header X-Organization-ID of answers to personal tokens. POST /v1/switch acts in another one.',
  ),
  chat_not_connected: entry(
    'not_found',
    'The organization has connected no chat.',
    'The request chooses the chat as a channel of notifications, and the organization has no integration of a chat.',
    'Choose another channel, such as e-mail, or connect the chat of the organization first.',
  ),
  route_not_found: entry(
    'not_found',
    'There is no such route.',
    'The URL is misspelt, or has a slash at its end.',
    'Use the URL that the message names; /docs lists all.',
  ),
  rule_violated: entry(
    'conflict',
    'The request breaks a rule of the product.',
    'The request has the right form, but its values do not fit together, or the record has a status in which this is not possible, such as the cancellation of an export that is completed.',
    'Read the record again, and send what its status allows. The message names the rule.',
  ),
  method_not_allowed: entry(
    'method_not_allowed',
    'The method is not allowed for this URL.',
    'The URL exists, but not with this method.',
    'Use one of the methods in the message and in the header Allow.',
  ),
  not_acceptable: entry(
    'not_acceptable',
    'None of the accepted media types can be produced.',
    'The header Accept excludes all types that the route has.',
    'Accept application/json, or leave the header out.',
  ),
  request_timeout: entry(
    'timeout',
    'The request did not arrive in time.',
    'Headers or body came more slowly than `server.readheadertimeout` and `server.readtimeout` allow.',
    'Send the request again; use resumable uploads for large files on slow connections.',
  ),
  identity_not_linked: entry(
    'conflict',
    'The account has not been linked to this identity.',
    'An account with the e-mail address of the identity exists, but nobody has linked the two.',
    'Sign in to the account in another way, then link the identity with POST /v1/account/identities.',
  ),
  last_way_in: entry(
    'conflict',
    'The account has no other way to sign in.',
    'The change would leave the account without a password, a passkey or a linked identity.',
    'Set a password with POST /v1/forgot-password, or add another way to sign in, before you remove this one.',
  ),
  already_exists: entry(
    'conflict',
    'A record with this value already exists.',
    'Another record has the same value in a field, or several fields, that must be unique.',
    'Choose another value for the fields that `errors` names, or change the existing record.',
  ),
  subscription_exists: entry(
    'conflict',
    'The organization has a subscription already.',
    'A checkout was asked for, and the organization has a subscription that has not ended.',
    'Change the subscription in the billing portal (POST /v1/billing/portal), or wait until it has ended.',
  ),
  billing_disabled: entry(
    'conflict',
    'The installation has no billing.',
    '`subscription.enabled` is off: nobody pays, and the operator grants product modules.',
    'Ask the operator for a product module; operators grant one with `npm run billing -- grant`.',
  ),
  definition_conflict: entry(
    'conflict',
    'Another definition holds the same changes.',
    'A published definition of the same kind holds one of these fields, or deletions, until they are approved: two definitions cannot decide about the same change.',
    'Retire the other definition, which the message names, or take the field out of one of the two.',
  ),
  payment_refused: entry(
    'conflict',
    'The payment provider has refused the request.',
    'The payment provider does not know what was named, such as a price or a subscription that has ended meanwhile, or does not accept it.',
    'Read the plan again (GET /v1/billing/plan), and repeat the request if it still makes sense; operators find the reason in the log, and compare the catalogue with `npm run billing -- catalogue check`.',
  ),
  integration_not_connected: entry(
    'conflict',
    'The integration is not connected.',
    'Nobody has connected it yet, the other system refuses its credential, nobody pays for the organization, or it is being disconnected.',
    'Connect the integration (POST /v1/integrations/auth/start, or POST /v1/integrations/{definitionId}/config), then repeat the request.',
  ),
  integration_refused: entry(
    'conflict',
    'The other system has refused the request.',
    'The other system does not accept the credential or the request of the integration, or gives an answer that its interface does not have.',
    'The message says what to do: usually to connect the integration again, or to grant a permission at the other system.',
  ),
  precondition_failed: entry(
    'precondition_failed',
    'The record has another version than If-Match says.',
    'Somebody has changed the record since the version in If-Match was read.',
    'Read the record again, and repeat the change with its new ETag.',
  ),
  protocol_version_unsupported: entry(
    'precondition_failed',
    'The version of the protocol is not supported.',
    'The header Tus-Resumable is missing, or names another version than the server speaks.',
    'Send the version that the message and the header Tus-Version name.',
  ),
  stale_record: entry(
    'conflict',
    'The record was changed by someone else.',
    'The change names a version on which it is based (`record_version`), and the record has another one.',
    'Read the record again, and repeat the change with its new version.',
  ),
  proposal_open: entry(
    'conflict',
    'Another change of the record waits for approval.',
    'A proposal of somebody else about the same fields, or about the deletion, is open.',
    'Wait until it is decided, or ask its submitter to withdraw it; then repeat the request.',
  ),
  already_decided: entry(
    'conflict',
    'Somebody has decided already.',
    'The assignment of a workflow was decided or is not needed any more: enough others have decided, or the workflow has ended.',
    'Read the assignment again (GET /v1/workflow-assignments/{id}) to see how it was decided.',
  ),
  workflows_disabled: entry(
    'conflict',
    'Workflows are switched off.',
    'The operator has switched the workflow engine off (`workflows.enabled`). Definitions and open instances stay as they are.',
    'Ask those who operate the server.',
  ),
  last_owner: entry(
    'conflict',
    'The organization would be left without an owner.',
    'The change would take the role from the last active owner.',
    'Give the organization another owner (POST /v1/organizations/{id}/transfer-ownership) first, or delete it.',
  ),
  organization_archived: entry(
    'conflict',
    'The organization is archived.',
    'Nothing in an archived organization can be changed.',
    'A manager ends the archiving with PATCH /v1/organizations/{id} and {"is_archived": false}; or switch to another organization.',
  ),
  still_referenced: entry(
    'conflict',
    'Other records still refer to this one.',
    'A record refers to the one that is deleted, or the target of a reference was deleted at the same time.',
    'Change or delete the records that refer to it first; then repeat the request.',
  ),
  upload_complete: entry(
    'conflict',
    'The upload takes no more bytes.',
    'All bytes of the upload have arrived, or the client has completed it.',
    'Use its id in a record if its status is `ready`; otherwise begin another upload.',
  ),
  upload_not_ready: entry(
    'conflict',
    'The upload is not complete, or is still being checked.',
    'A record can take an upload only when all its bytes have arrived and were checked.',
    'Ask GET /v1/uploads/{id} until the status is `ready`; then repeat the request.',
  ),
  upload_busy: entry(
    'conflict',
    'Another request is writing to the upload.',
    'One request writes to an upload at a time, and the previous one has not ended, or was interrupted a moment ago.',
    'Send HEAD /v1/uploads/{id} for the offset of the upload, and continue after the seconds in Retry-After.',
  ),
  idempotency_key_in_use: entry(
    'conflict',
    'Another request with this Idempotency-Key is under way.',
    'A request was sent again before the first one was answered.',
    'Send it again after the seconds in Retry-After: it gets the answer of the first one.',
  ),
  body_too_large: entry(
    'too_large',
    'The request body is too large.',
    'The body, or a file, has more bytes than the limit in the message.',
    'Send less in one request, or have the limit raised (`objectstorage.maxsizemb` for files).',
  ),
  headers_too_large: entry(
    'headers_too_large',
    'The request headers are too large.',
    'Request line and headers together are longer than 16 KB.',
    'Send fewer or shorter headers; delete old cookies of the site.',
  ),
  unsupported_media_type: entry(
    'unsupported_media_type',
    'The content type is not supported.',
    'The header Content-Type is missing, or names a type that the route does not read.',
    'Send the type that the message names: application/json, except for uploads.',
  ),
  file_type_refused: entry(
    'unsupported_media_type',
    'The file is of a type that is not accepted here.',
    'The field does not accept the type of the content, or the name of the file contradicts it.',
    'Send a file of one of the types in the message, with the file name extension of its type.',
  ),
  range_not_satisfiable: entry(
    'range_not_satisfiable',
    'The file has no bytes in the requested range.',
    'The header Range begins behind the end of the file.',
    'Ask for a range within the length in Content-Range, or for the whole file.',
  ),
  checksum_mismatch: entry(
    'unprocessable',
    'The content does not have the stated checksum.',
    'The bytes that arrived do not have the stated checksum.',
    'Compute the SHA-256 of the file again, and send the file again.',
  ),
  idempotency_key_reused: entry(
    'unprocessable',
    'The Idempotency-Key was sent with another request.',
    'A key stands for one request, with its URL and its body, for a day.',
    'Use a new key, such as a random UUID, for each request; send an old one only with exactly the same request.',
  ),
  limit_exceeded: entry(
    'unprocessable',
    'The request asks for more than the limits allow.',
    'A page, a bulk operation, a query or a document is larger than the limit in the message.',
    'Request less at a time: smaller pages (`first`), fewer records, fields or levels; large amounts go through imports and exports.',
  ),
  persisted_query_not_found: entry(
    'not_found',
    'The hash names no document that this process knows.',
    'A GraphQL request sent only the SHA-256 hash of its document, and this process has not seen the document yet, or no longer keeps it. GraphQL spells the code PERSISTED_QUERY_NOT_FOUND, as clients of the protocol expect.',
    'Send the same request once more with the document in `query`; clients with automatic persisted queries do so automatically.',
  ),
  too_many_requests: entry(
    'limited',
    'Too many requests.',
    'The same account or address has tried too often in a short time, or asks for too many mails.',
    'Wait for the seconds in Retry-After, then try again.',
  ),
  rate_limit_exceeded: entry(
    'limited',
    'The rate limit is exceeded.',
    'The client has sent more requests within a time than `ratelimit` or `ratelimitunmatched` allows; the operator may have chosen another status.',
    'Wait for the seconds in Retry-After, then continue at a lower rate: `RateLimit` says how many requests remain.',
  ),
  deadline_exceeded: entry(
    'unavailable',
    'The request took longer than its deadline.',
    'The server or one of its parts was too busy to answer within `server.writetimeout`; nothing was changed.',
    'Try again after the seconds in Retry-After; request less at a time if this happens again.',
  ),
  schema_too_new: entry(
    'unavailable',
    'The database belongs to a newer version of the server.',
    'An older version of the server was started with a database that a newer one has migrated.',
    'Start the newer version, or restore a backup that was made before it.',
  ),
  schema_too_old: entry(
    'unavailable',
    'The database lacks migrations of this version of the server.',
    'The server was started without the right to migrate (`db.runmigrations`), or before its migrations ran.',
    'Run `npm run migrate`.',
  ),
  migration_failed: entry(
    'unavailable',
    'A migration of the database failed.',
    'PostgreSQL refused a statement of a migration; the message names the migration and the statement.',
    'Remove the reason that the message names, and run `npm run migrate` again: a migration runs as a whole or not at all.',
  ),
  database_unavailable: entry(
    'unavailable',
    'The database cannot be reached.',
    'PostgreSQL does not answer, or refuses connections.',
    'Try again after the seconds in Retry-After; operators look at /readyz and at `db.primarydbsource`.',
  ),
  database_busy: entry(
    'unavailable',
    'All database connections are in use.',
    'More requests are under way than there are connections (`db.maxconnections`).',
    'Try again after the seconds in Retry-After; send fewer requests at the same time.',
  ),
  concurrent_changes: entry(
    'unavailable',
    'Other requests were changing the same records.',
    'Several requests changed the same records at the same time, and this one was undone.',
    'Send the request again: nothing of it was kept.',
  ),
  authorization_unavailable: entry(
    'unavailable',
    'Permissions cannot be decided at the moment.',
    'OpenFGA does not answer, and the permission is not known from an earlier decision.',
    'Try again after the seconds in Retry-After; reads still work. Operators look at /readyz and at `authz.hosturl`.',
  ),
  provider_unavailable: entry(
    'unavailable',
    'The sign-in provider cannot be used.',
    'The provider does not answer, or its settings are not complete.',
    'Try again later, or sign in in another way.',
  ),
  workflows_unavailable: entry(
    'unavailable',
    'The workflow service cannot be reached.',
    'Temporal does not answer.',
    'Try again later; operators look at /readyz and at `jobqueue.connectionuri`.',
  ),
  storage_unavailable: entry(
    'unavailable',
    'The object storage cannot be reached.',
    'The provider of the object storage does not answer, or answers with an error.',
    'Try again after the seconds in Retry-After; operators look at /readyz and at `objectstorage.providers`.',
  ),
  storage_disabled: entry(
    'unavailable',
    'The installation has no object storage.',
    'No provider of object storage is enabled in the configuration.',
    'Operators enable one in `objectstorage.providers`, or set `objectstorage.devmode` for development.',
  ),
  payment_unavailable: entry(
    'unavailable',
    'The payment provider cannot be used at the moment.',
    'The payment provider does not answer, or the organization is still being set up there. Organizations keep their modules meanwhile.',
    'Try again after the seconds in Retry-After; operators look at `subscription` and at the status page of the provider.',
  ),
  integration_unavailable: entry(
    'unavailable',
    'The other system cannot be used at the moment.',
    'The other system of an integration does not answer, or takes no more requests for some time.',
    'Try again after the seconds in Retry-After.',
  ),
  overloaded: entry(
    'unavailable',
    'Too much other work of this kind is waiting.',
    'Expensive work, such as hashing passwords, waits in a queue, and the queue is full.',
    'Try again after the seconds in Retry-After.',
  ),
  slow_consumer: entry(
    'limited',
    'The subscription was ended because its client does not keep up.',
    'The client has not received a message within `server.writetimeout`.',
    'Read faster, or select less; then subscribe again `after` the last cursor: nothing is lost.',
  ),
  subscriptions_disabled: entry(
    'unavailable',
    'The installation serves no subscriptions.',
    '`server.enablegraphsubscriptions` is off.',
    'Operators turn it on, in all processes; clients ask again from time to time until then.',
  ),
  shutting_down: entry(
    'unavailable',
    'The server is shutting down.',
    'This process is shutting down and accepts no new requests.',
    'Send the request again: another process answers, or this one after its start.',
  ),
  internal: entry(
    'internal',
    'An unexpected error occurred on the server.',
    'The server has a fault.',
    'Give the request id to the operators of the server: it identifies the error in the log.',
  ),
} as const satisfies Record<string, CatalogueEntry>;

export type ErrorCode = keyof typeof errorCatalogue;

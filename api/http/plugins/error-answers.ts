import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { AppError, statusOf } from '#entities/kit/base/errors.ts';
import { isId } from '#entities/kit/base/ids.ts';
import { shortened } from '#entities/kit/base/shortened.ts';
import { addressElsewhere } from '../response/address-elsewhere.ts';
import { asAppError, problemOf, problemType } from '../response/problem.ts';
import { recheckCaller } from '../request-caller.ts';
import type { ErrorAnswer, RequestContext } from '../request-context.ts';
import type { Services } from '../services.ts';
import { knownAddresses, type KnownAddresses } from './methods.ts';

/** Formats all error responses of the API as problem documents, unless the route has another form. */
export function errorsPlugin(app: FastifyInstance, services: Services): void {
  app.setErrorHandler(async (thrown, request, reply) =>
    sendProblem(asAppError(await afterSettling(thrown, request, services), request), request, reply),
  );
  // Unknown addresses are refused before.
  app.setNotFoundHandler((request, reply) => sendProblem(routeNotFound(request), request, reply));
}

/** The error to report: that of the caller, if the one that was thrown must stay secret. */
async function afterSettling(thrown: unknown, request: FastifyRequest, services: Services): Promise<unknown> {
  try {
    await recheckCaller(request, services);
    return thrown;
  } catch (error) {
    return error;
  }
}

type AddressHints = (path: string) => string | undefined;

const byInvitation = 'People join an organization by invitation: POST /v1/invites.';

/** Advice for a method that an address does not have and somebody may expect. */
const insteadOf: Readonly<Record<string, string>> = {
  'POST /v1/memberships': byInvitation,
  'POST /v1/task-groups':
    'POST /v1/task-shares gives a group access to a task; PATCH /v1/tasks/{id} with add_group_ids links the two without giving access.',
  'POST /v1/users': `People sign up with POST /v1/register. ${byInvitation}`,
  'PATCH /v1/invites/{id}': 'To change an invitation, DELETE it and send another one with POST /v1/invites.',
  'POST /v1/sessions': 'People sign in with POST /v1/login.',
};

/** Form of the errors of unknown addresses, where a protocol has its own. */
type ErrorForms = (path: string) => RequestContext['errorForm'];

/**
 * Rejects unknown URLs and methods before the body is read. A slash at the end of a list's URL would be a record with an empty id.
 * @param hintFor what to do instead, for URLs that are known to be guessed: the end of a sentence
 */
export function refuseUnknownAddresses(app: FastifyInstance, hintFor: AddressHints, formOf: ErrorForms): void {
  const addresses = knownAddresses(app);
  app.addHook('onRequest', (request, reply, done) => {
    if (!request.is404 && !hasSlashAtEnd(request)) return done();
    request.core.errorForm = formOf(pathOf(request));
    const allowed = request.is404 ? addresses.methodsAt(request.url)?.join(', ') : undefined;
    if (allowed === undefined) return done(routeNotFound(request, remedyOf(request, addresses, hintFor)));
    void reply.header('allow', allowed);
    const [, parent = '', last] = /^(.*)\/([^/]*)$/.exec(pathOf(request)) ?? [];
    const instead = insteadOf[`${request.method} ${isId(last) ? `${parent}/{id}` : pathOf(request)}`];
    const why = refusedOrigin(request) ?? `${request.method} is not allowed here; use ${allowed}.`;
    done(new AppError('method_not_allowed', instead === undefined ? why : `${why} ${instead}`));
  });
}

/** For the question of a browser whether a page of another origin may call this address: those that may are answered before. */
function refusedOrigin({ method, headers: { origin, 'access-control-request-method': asked } }: FastifyRequest) {
  if (method !== 'OPTIONS' || origin === undefined || asked === undefined) return undefined;
  return `Pages of the origin ${shortened(origin)} may not call this address; the operator allows origins in server.cors.`;
}

/** @param remedy what to do instead: the end of a sentence */
function routeNotFound(request: FastifyRequest, remedy = 'see /docs'): AppError {
  return new AppError(
    'route_not_found',
    `There is no route ${request.method} ${shownPath(pathOf(request))}; ${remedy}.`,
  );
}

function remedyOf(request: FastifyRequest, addresses: KnownAddresses, hintFor: AddressHints): string | undefined {
  const path = pathOf(request);
  if (hasSlashAtEnd(request)) return slashRemedy(request, path.replace(/\/+$/, ''), addresses);
  const hint = hintFor(path);
  if (hint !== undefined) return hint;
  const meant = addressElsewhere(path, (address) => addresses.methodsAt(address) !== undefined);
  if (meant !== undefined) return meant;
  const near = addresses.near(path);
  return near === undefined ? undefined : `did you mean ${near}? See /docs`;
}

/** The path before the slash may lack the method: then the value of the parameter that follows there is missing. */
function slashRemedy({ method }: FastifyRequest, path: string, addresses: KnownAddresses): string | undefined {
  if (addresses.methodsAt(path)?.includes(method)) return `remove the slash at its end: ${shownPath(path)}`;
  const below = addresses.parameterBelow(path, method);
  return below === undefined ? undefined : `the ${below} is missing: ${method} ${shownPath(path)}/{${below}}`;
}

function hasSlashAtEnd(request: FastifyRequest): boolean {
  return /[^/]\/+$/.test(pathOf(request)) && request.routeOptions.url !== pathOf(request);
}

/** Headers of a record whose change could not be committed after all, or of a file that cannot be read. */
const contentHeaders = [
  'etag',
  'location',
  'content-length',
  'content-range',
  'content-disposition',
  'content-security-policy',
  'repr-digest',
  'accept-ranges',
];

/**
 * Sends an error in the form of its route and logs server errors.
 * @param complete adds headers where no hook does: to answers of requests that reach no route
 */
export function sendProblem(
  error: AppError,
  request: FastifyRequest,
  reply: FastifyReply,
  complete: () => void = () => {},
): FastifyReply {
  // When the client has disconnected, errors of its handler are expected.
  if (!reply.raw.destroyed) logFailure(error, request);
  if (error.details.retryAfterSeconds !== undefined)
    void reply.header('retry-after', String(error.details.retryAfterSeconds));
  // RFC 9110, section 15.5.2, and RFC 6750, section 3.
  if (error.status === 401)
    void reply.header(
      'www-authenticate',
      request.headers.authorization === undefined ? 'Bearer' : 'Bearer error="invalid_token"',
    );
  // The schema that a route declares for this status is not for problem documents.
  void reply.serializer(JSON.stringify);
  for (const name of contentHeaders) void reply.removeHeader(name);
  if (error.details.contentRange !== undefined) void reply.header('content-range', error.details.contentRange);
  const problem = (): ErrorAnswer => ({ type: problemType, body: problemOf(error, request.id) });
  const { type, body, headers = {} } = formed(error, request) ?? problem();
  void reply.code(error.status).headers({ ...headers, 'content-type': type, 'cache-control': 'no-store' });
  complete();
  return reply.send(body);
}

/** The error in the form of its route. Requests that are refused at once have no context. */
function formed(error: AppError, request: FastifyRequest): ErrorAnswer | undefined {
  const { core } = request as { readonly core?: RequestContext };
  return request.routeOptions.config.errorAnswer?.(error, request) ?? core?.errorForm?.(error);
}

/** Logs server errors; an unavailable or busy dependency is a warning. */
export function logFailure(error: AppError, { log }: FastifyRequest): void {
  if (statusOf(error.code) < 500) return;
  log[error.category === 'unavailable' ? 'warn' : 'error']({ err: error, code: error.code }, error.message);
}

/** A path as messages repeat it. */
function shownPath(path: string): string {
  return shortened(path, 256);
}

/** The path without its query, which could contain tokens. */
function pathOf(request: FastifyRequest): string {
  return request.url.split('?', 1)[0] ?? '/';
}

import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { AppError } from '#entities/kit/base/errors.ts';
import { asAppError, problemOf, problemType } from '../problem.ts';

/** Every error answer of the API is a problem document, wherever the error came from. */
export function errorsPlugin(app: FastifyInstance): void {
  app.setErrorHandler((thrown, request, reply) => sendProblem(asAppError(thrown), request, reply));
  app.setNotFoundHandler((request, reply) => sendProblem(routeNotFound(request), request, reply));
}

/** What is nowhere is refused before its body is looked at. */
export function refuseUnknownAddresses(app: FastifyInstance): void {
  app.addHook('onRequest', (request, _reply, done) => {
    done(request.is404 ? routeNotFound(request) : undefined);
  });
}

function routeNotFound(request: FastifyRequest): AppError {
  return new AppError('route_not_found', `There is nothing at ${request.method} ${pathOf(request)}; see /docs.`);
}

/** Answers with the problem and logs what operators need of it. */
export function sendProblem(error: AppError, request: FastifyRequest, reply: FastifyReply): FastifyReply {
  // Of a client that went away nobody waits for an answer, and what its handler then runs into is no failure.
  if (!reply.raw.destroyed) logFailure(error, request);
  if (error.details.retryAfterSeconds !== undefined)
    void reply.header('retry-after', String(error.details.retryAfterSeconds));
  // A route may answer this status with a schema of its own, which is not for problems.
  void reply.serializer(JSON.stringify);
  return reply
    .code(error.status)
    .headers({ 'content-type': problemType, 'cache-control': 'no-store' })
    .send(problemOf(error, request.id));
}

/** Failures of ours are logged as errors; that a part is away or busy is a warning. */
export function logFailure(error: AppError, { log }: FastifyRequest): void {
  if (error.status < 500) return;
  log[error.category === 'unavailable' ? 'warn' : 'error']({ err: error, code: error.code }, error.message);
}

/** The path without its query: tokens in query strings are neither read nor repeated. */
function pathOf(request: FastifyRequest): string {
  return request.url.split('?', 1)[0] ?? '/';
}

import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { AppError } from '#entities/kit/errors.ts';
import { asAppError, problemOf, problemType } from '../problem.ts';

/** Every error answer of the API is a problem document, wherever the error came from. */
export function errorsPlugin(app: FastifyInstance): void {
  app.setErrorHandler((thrown, request, reply) => sendProblem(asAppError(thrown), request, reply));
  app.setNotFoundHandler((request, reply) =>
    sendProblem(
      new AppError('route_not_found', `There is nothing at ${request.method} ${pathOf(request)}; see /docs.`),
      request,
      reply,
    ),
  );
}

/** Answers with the problem and logs what operators need of it. */
export function sendProblem(error: AppError, request: FastifyRequest, reply: FastifyReply): FastifyReply {
  if (error.status >= 500) request.log.error({ err: error, code: error.code }, error.message);
  if (error.details.retryAfterSeconds !== undefined)
    void reply.header('retry-after', String(error.details.retryAfterSeconds));
  // A refused request hands out nothing: not the cookies of a sign-in whose commit failed either.
  reply.removeHeader('set-cookie');
  return reply.code(error.status).header('content-type', problemType).send(problemOf(error, request.id));
}

/** The path without its query: tokens in query strings are neither read nor repeated. */
function pathOf(request: FastifyRequest): string {
  return request.url.split('?', 1)[0] ?? '/';
}

import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { AppError } from '#entities/kit/errors.ts';
import { deriveKey } from '#entities/kit/keys.ts';
import { csrfCookie } from '../auth/cookies.ts';
import { isCsrfToken, newCsrfToken } from '../auth/csrf-token.ts';
import type { Services } from '../services.ts';

const mutating = new Set(['POST', 'PUT', 'PATCH', 'DELETE']);

/**
 * CSRF protection (specification, CSRF): a mutating request repeats the cookie's token in a header. A request that brings
 * its credential in the Authorization header is not at risk, because no browser adds that by itself.
 */
export function csrfPlugin(app: FastifyInstance, services: Services): void {
  app.addHook('onRequest', (request, reply, done) => {
    const { csrfprotection } = services.config.current.server;
    if (!csrfprotection.enabled) {
      done();
      return;
    }
    const isExempt = request.routeOptions.config.csrf === false || request.headers.authorization !== undefined;
    if (mutating.has(request.method)) done(isExempt ? undefined : problemWith(request, services));
    else {
      if (request.method === 'GET' && !holdsToken(request, services))
        setCsrfCookie(reply, services, request.core.claims?.sessionId ?? '');
      done();
    }
  });
}

/** Gives the browser a token bound to this session; called by GETs and by whatever starts or ends a session. */
export function setCsrfCookie(reply: FastifyReply, services: Services, sessionId: string): void {
  const config = services.config.current;
  void reply.setCookie(
    config.server.csrfprotection.cookie,
    newCsrfToken(keyOf(services), sessionId),
    csrfCookie(config),
  );
}

function problemWith(request: FastifyRequest, services: Services): AppError | undefined {
  const { header, cookie } = services.config.current.server.csrfprotection;
  const sent = request.headers[header.toLowerCase()];
  if (typeof sent !== 'string' || sent === '') {
    return new AppError(
      'csrf_token_missing',
      `Send the value of the cookie "${cookie}" in the header "${header}"; any GET sets the cookie.`,
    );
  }
  if (sent === request.cookies[cookie] && isCsrfToken(keyOf(services), request.core.claims?.sessionId ?? '', sent))
    return undefined;
  return new AppError(
    'csrf_token_invalid',
    `The header "${header}" does not match this session's cookie "${cookie}"; GET any address for a new one.`,
  );
}

function holdsToken(request: FastifyRequest, services: Services): boolean {
  const held = request.cookies[services.config.current.server.csrfprotection.cookie];
  return held !== undefined && isCsrfToken(keyOf(services), request.core.claims?.sessionId ?? '', held);
}

const keys = new Map<string, Buffer>();

function keyOf(services: Services): Buffer {
  const secret = services.config.current.sessions.signingkey;
  const known = keys.get(secret) ?? deriveKey(secret, 'csrf');
  keys.set(secret, known);
  return known;
}

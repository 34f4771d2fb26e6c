import type { FastifyInstance, FastifyRequest } from 'fastify';
import { callerIn, readPrincipalState } from '#entities/kit/access/principal-state.ts';
import { anonymousCaller } from '#entities/kit/model/caller.ts';
import { AppError, isAppError } from '#entities/kit/base/errors.ts';
import type { AccessClaims } from '../../auth/access-token.ts';
import { accessCookie } from '../../auth/session-cookies.ts';
import type { Services } from '../services.ts';
import { signInFirst } from './sign-in-first.ts';

/**
 * Verifies the bearer token or, without one, the access cookie before the body is read; the CSRF check uses the result.
 * `requireCaller` looks up the user.
 */
export function authenticatePlugin(app: FastifyInstance, services: Services): void {
  app.addHook('onRequest', async (request) => {
    const { authorization } = request.headers;
    if (authorization !== undefined && request.routeOptions.config.access !== 'anonymous') {
      await verify(request, services, bearerToken(authorization));
    } else {
      const cookie = request.cookies[accessCookie];
      if (cookie !== undefined) await unlessStale(verify(request, services, cookie));
    }
  });
}

/**
 * Rejects anonymous callers on protected routes. Must be registered after the CSRF check, so that its result does not depend on
 * who is signed in. Requests without a token are rejected before the body is read.
 */
export function requireCaller(app: FastifyInstance, services: Services): void {
  app.addHook('onRequest', (request, _reply, done) => {
    done(isRequired(request) && request.core.token === undefined ? signInFirst() : undefined);
  });
  // After the body has arrived: rights that are revoked while a client delays its body must not count.
  app.addHook('preValidation', async (request) => {
    const { core } = request;
    // Anonymous routes do not query the database.
    if (core.token === undefined || request.routeOptions.config.access === 'anonymous') return;
    const identified = identify(request, services, core.token);
    await (request.headers.authorization === undefined ? unlessStale(identified) : identified);
    if (isRequired(request) && core.caller === anonymousCaller) throw signInFirst();
  });
}

function isRequired(request: FastifyRequest): boolean {
  return request.routeOptions.config.access === 'required';
}

/** RFC 6750, section 2.1. @throws AppError unauthenticated */
function bearerToken(header: string): string {
  const [, token] = /^Bearer +([A-Za-z0-9._~+/-]+=*)$/i.exec(header) ?? [];
  if (!token) throw new AppError('unauthenticated', 'The Authorization header must be "Bearer" and an access token.');
  return token;
}

/** A stale cookie is not an error: browsers send it to public routes, too. */
async function unlessStale(attempt: Promise<void>): Promise<void> {
  try {
    await attempt;
  } catch (error) {
    if (!isAppError(error) || error.code !== 'unauthenticated') throw error;
  }
}

/** Reads the state of the caller again, for another attempt of the request. @throws AppError unauthenticated */
export async function identifyAgain(request: FastifyRequest, services: Services): Promise<void> {
  if (request.core.claims) await identify(request, services, request.core.claims);
}

async function verify({ core }: FastifyRequest, services: Services, token: string): Promise<void> {
  core.token = await services.accessTokens.verify(token);
  core.sessionId = core.token.sessionId;
}

/**
 * Reads user, revocation and membership from the database for every request, so that changes take effect at once.
 */
async function identify({ core }: FastifyRequest, services: Services, claims: AccessClaims): Promise<void> {
  const { userId, tokenId, organizationId } = claims;
  const state = await readPrincipalState(services.database, claims, core);
  if (!state.isActive || state.isRevoked) {
    throw new AppError('unauthenticated', 'The access token is not valid or has expired; sign in again.');
  }
  core.claims = claims;
  core.caller = callerIn(userId, organizationId, state, { tokenId, ...(await services.contextOfCallers()) });
}

import type { FastifyInstance, FastifyRequest } from 'fastify';
import { callerIn, readPrincipalState } from '#entities/kit/access/principal-state.ts';
import { anonymousCaller } from '#entities/kit/model/caller.ts';
import { AppError, isAppError } from '#entities/kit/base/errors.ts';
import type { AccessClaims } from '../../auth/access-token.ts';
import { accessCookie } from '../../auth/session-cookies.ts';
import type { Services } from '../services.ts';

/**
 * Finds out whose token came along: the bearer token, else the access cookie. That is done before the body comes, and the
 * CSRF check goes by it; what the person may do is asked in `requireCaller`.
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
 * Refuses nobody where somebody is needed. To be called after the CSRF check, so that its refusal does not depend on who
 * is signed in. Whoever brings no token at all is refused before the body comes.
 */
export function requireCaller(app: FastifyInstance, services: Services): void {
  app.addHook('onRequest', (request, _reply, done) => {
    done(isRequired(request) && request.core.token === undefined ? signInFirst() : undefined);
  });
  // Behind the body: whoever holds it back would keep rights that are taken meanwhile.
  app.addHook('preValidation', async (request) => {
    const { core } = request;
    // Routes that are for nobody in particular ask the database nothing.
    if (core.token === undefined || request.routeOptions.config.access === 'anonymous') return;
    const identified = identify(request, services, core.token);
    await (request.headers.authorization === undefined ? unlessStale(identified) : identified);
    if (isRequired(request) && core.caller === anonymousCaller) throw signInFirst();
  });
}

function isRequired(request: FastifyRequest): boolean {
  return request.routeOptions.config.access === 'required';
}

function signInFirst(): AppError {
  return new AppError(
    'unauthenticated',
    'Sign in first: POST /v1/login, then send the access token as bearer token or cookie.',
  );
}

/** RFC 6750, section 2.1. @throws AppError unauthenticated */
function bearerToken(header: string): string {
  const [, token] = /^Bearer +([A-Za-z0-9._~+/-]+=*)$/i.exec(header) ?? [];
  if (!token) throw new AppError('unauthenticated', 'The Authorization header must be "Bearer" and an access token.');
  return token;
}

/** A stale cookie is not an error by itself: the browser sends it to public addresses too. */
async function unlessStale(attempt: Promise<void>): Promise<void> {
  try {
    await attempt;
  } catch (error) {
    if (!isAppError(error) || error.code !== 'unauthenticated') throw error;
  }
}

async function verify({ core }: FastifyRequest, services: Services, token: string): Promise<void> {
  core.token = await services.accessTokens.verify(token);
  core.sessionId = core.token.sessionId;
}

/**
 * The token names the person; user, revocation and membership are read anew for every request, so a change there works at
 * once.
 */
async function identify({ core }: FastifyRequest, services: Services, claims: AccessClaims): Promise<void> {
  const { userId, tokenId, organizationId } = claims;
  const standing = await readPrincipalState(services.database, claims, core);
  if (!standing.isActive || standing.isRevoked) {
    throw new AppError('unauthenticated', 'The access token is not valid or has expired; sign in again.');
  }
  core.claims = claims;
  core.caller = callerIn(userId, organizationId, standing, { tokenId, ...(await services.contextOfCallers()) });
}

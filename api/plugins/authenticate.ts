import type { FastifyInstance, FastifyRequest } from 'fastify';
import { readStanding } from '#entities/kit/access.ts';
import { anonymousCaller, callerOf } from '#entities/kit/caller.ts';
import { AppError, isAppError } from '#entities/kit/errors.ts';
import { accessCookie } from '../auth/cookies.ts';
import type { Services } from '../services.ts';

/**
 * Finds out who calls: the bearer token, else the access cookie. The token names the person; user, revocation and
 * membership are read anew for every request, so a change there works at once. Routes that are for nobody in particular
 * ask the database nothing.
 */
export function authenticatePlugin(app: FastifyInstance, services: Services): void {
  app.addHook('onRequest', async (request) => {
    const { authorization } = request.headers;
    const { access } = request.routeOptions.config;
    if (authorization !== undefined && access !== 'nobody') {
      await identify(request, services, bearerToken(authorization));
    } else {
      const cookie = request.cookies[accessCookie];
      if (cookie !== undefined) await identifyByCookie(request, services, cookie);
    }
  });
}

/**
 * Refuses nobody where somebody is needed. To be called after the CSRF check, so that its refusal does not depend on who
 * is signed in.
 */
export function requireCaller(app: FastifyInstance): void {
  app.addHook('onRequest', (request, _reply, done) => {
    const isMissing = request.routeOptions.config.access === 'required' && request.core.caller === anonymousCaller;
    done(
      isMissing
        ? new AppError(
            'unauthenticated',
            'Sign in first: POST /v1/login, then send the access token as bearer token or cookie.',
          )
        : undefined,
    );
  });
}

/** RFC 6750, section 2.1. @throws AppError unauthenticated */
function bearerToken(header: string): string {
  const [, token] = /^Bearer +([A-Za-z0-9._~+/-]+=*)$/i.exec(header) ?? [];
  if (!token) throw new AppError('unauthenticated', 'The Authorization header must be "Bearer" and an access token.');
  return token;
}

/** A stale cookie is not an error by itself: the browser sends it to public addresses too. */
async function identifyByCookie(request: FastifyRequest, services: Services, token: string): Promise<void> {
  try {
    await identify(request, services, token);
  } catch (error) {
    if (!isAppError(error) || error.code !== 'unauthenticated') throw error;
  }
}

async function identify(request: FastifyRequest, services: Services, token: string): Promise<void> {
  const claims = await services.accessTokens.verify(token);
  const { userId, tokenId, organizationId, sessionId } = claims;
  request.core.sessionId = sessionId;
  if (request.routeOptions.config.access === 'nobody') return;
  const standing = await readStanding(services.database, claims, request.core);
  if (!standing.isActive || standing.isRevoked) {
    throw new AppError('unauthenticated', 'The access token is not valid or has expired; sign in again.');
  }
  request.core.claims = claims;
  const { role, groupIds, relations } = standing;
  request.core.caller = callerOf({
    kind: 'user',
    subjectId: userId,
    tokenId,
    // Without a membership the organization is not theirs any more; tenant queries then return nothing.
    ...(role === null ? {} : { organizationId, role, groupIds, relations }),
    ...(await services.contextOfCallers()),
  });
}

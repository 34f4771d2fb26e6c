import type { FastifyInstance, FastifyRequest } from 'fastify';
import { AppError, isAppError } from '#entities/kit/base/errors.ts';
import { isId } from '#entities/kit/base/ids.ts';
import { notAnId } from '#entities/kit/base/schema-problem.ts';
import { anonymousCaller } from '#entities/kit/model/caller.ts';
import { switchTo } from '#entities/kit/model/current-organization.ts';
import type { AccessClaims } from '../../auth/access-token.ts';
import { accessCookie, sessionCookieName } from '../../auth/cookie-attributes.ts';
import { delegationTypeOf } from '../../auth/delegation-token.ts';
import { isLocalName } from '../default-caller.ts';
import { refuseTokens } from '../refuse-tokens.ts';
import { findCaller, isRequired, organizationHeader, recheckCaller, unlessStale } from '../request-caller.ts';
import type { RequestContext } from '../request-context.ts';
import type { Services } from '../services.ts';
import { signInFirst } from './sign-in-first.ts';

/**
 * Verifies the bearer token or, without one, the cookies of a browser before the body is read; the CSRF check uses the result.
 * `requireCaller` looks up the user.
 */
export function authenticatePlugin(app: FastifyInstance, services: Services): void {
  app.addHook('onRequest', (request, _reply, done) => {
    const { authorization } = request.headers;
    // An unknown address is answered so whoever asks.
    if (authorization !== undefined && !request.is404 && request.routeOptions.config.access !== 'anonymous') {
      const token = bearerToken(authorization);
      const known = services.accessTokens.known(token);
      if (!known || request.headers[organizationHeader] !== undefined) return verify(request, services, token);
      accept(request, known);
      return done();
    }
    const cookie = request.cookies[accessCookie];
    if (cookie !== undefined || services.defaultCaller) return verifyBrowser(request, services, cookie);
    // A promise would cost each anonymous request ticks of the event loop.
    return done();
  });
}

/** Makes a request one of whoever a bearer token stands for, as if it had come with it. @throws AppError unauthenticated, invalid_input */
export async function authenticateBearer(
  request: FastifyRequest,
  services: Services,
  authorization: string,
): Promise<void> {
  request.core.token = undefined;
  await verify(request, services, bearerToken(authorization));
}

async function verifyBrowser(request: FastifyRequest, services: Services, cookie: string | undefined): Promise<void> {
  if (cookie !== undefined) await unlessStale(verifyCookies(request, services, cookie));
  await assumeDefault(request, services);
}

/** While `auth.enabled` is off, a request without credentials needs none. */
async function assumeDefault(request: FastifyRequest, { defaultCaller }: Services): Promise<void> {
  const { core, routeOptions } = request;
  if (!defaultCaller || core.token || routeOptions.config.access === 'anonymous' || !isLocalName(request)) return;
  core.token = await defaultCaller.find(request);
}

/**
 * Rejects anonymous callers on protected routes. Must be registered after the CSRF check, so that its result does not depend on
 * who is signed in. Requests without a token are rejected before the body is read.
 */
export function requireCaller(app: FastifyInstance, services: Services): void {
  app.addHook('onRequest', (request, _reply, done) => {
    done(isRequired(request) && request.core.token === undefined ? signInFirst() : undefined);
  });
  // After the body has arrived: rights that are revoked while a client delays its body must not apply.
  app.addHook('preValidation', (request, _reply, done) => {
    // Anonymous routes do not query the database.
    if (request.core.token === undefined || request.routeOptions.config.access === 'anonymous') return done();
    return findAccepted(request, services);
  });
  app.addHook('onResponse', (request, _reply, done) => {
    const { token, caller } = request.core;
    // A client that was not accepted stayed anonymous.
    if (token && 'sort' in token && caller !== anonymousCaller) services.tokenUses.note(token);
    done();
  });
  // A response that no handler of ours has made, such as a GraphQL document that is not valid.
  app.addHook('onSend', (request, _reply, payload, done) => {
    // Requests that are refused at once have no context.
    if ((request.core as RequestContext | undefined)?.assumption) return recheckCaller(request, services);
    return done(null, payload);
  });
}

async function findAccepted(request: FastifyRequest, services: Services): Promise<void> {
  await findCaller(request, services);
  if (!request.routeOptions.config.acceptsTokens) refuseTokens(request.core.caller);
}

/** RFC 6750, section 2.1; API tokens may also contain a colon (`auth.token.apitokens.delimiter`). @throws AppError unauthenticated */
function bearerToken(header: string): string {
  const [, token] = /^Bearer +([A-Za-z0-9._~+/:-]+=*)$/i.exec(header) ?? [];
  if (!token)
    throw new AppError(
      'unauthenticated',
      `The header Authorization must be the word Bearer, a space and a token${sentInstead(header)}.`,
    );
  return token;
}

/** Content of the header in place of that, without repeating any part of it that could be a secret. */
function sentInstead(header: string): string {
  const words = header.trim().split(/ +/);
  if (words.length === 1) return /^bearer$/i.test(header.trim()) ? '; it has no token' : '; it has one word';
  const scheme = ['Basic', 'Digest', 'Token', 'ApiKey', 'JWT'].find(
    (one) => one.toLowerCase() === words[0]?.toLowerCase(),
  );
  if (scheme !== undefined) return `; it has the scheme ${scheme}`;
  if (words.length > 2) return `; it has ${words.length} words`;
  return /^bearer$/i.test(words[0] ?? '') ? '; the token has characters that no token has, such as quotes' : '';
}

async function verify(request: FastifyRequest, services: Services, token: string): Promise<void> {
  const presented = services.apiTokens.read(token, wantedOrganization(request));
  if (presented) {
    request.core.token = presented;
    return;
  }
  const reason = services.apiTokens.misreadReason(token);
  if (reason !== undefined) throw new AppError('unauthenticated', reason);
  const delegation = delegationTypeOf(token);
  if (delegation) request.core.token = await services.delegationTokens.verify(delegation, token);
  else accept(request, await verifyAccess(services, token));
}

/** @throws AppError unauthenticated; for a refresh token, by its own signature, with what to send instead */
async function verifyAccess({ accessTokens, refreshTokens }: Services, token: string): Promise<AccessClaims> {
  try {
    return await accessTokens.verify(token);
  } catch (error) {
    if (await isVerified(refreshTokens.verify(token)))
      throw new AppError(
        'unauthenticated',
        'This is a refresh token: send the access token, or exchange this one for a new access token with POST /v1/refresh.',
        { cause: error },
      );
    throw error;
  }
}

async function isVerified(verification: Promise<unknown>): Promise<boolean> {
  try {
    await verification;
    return true;
  } catch (error) {
    if (!isAppError(error) || error.code !== 'unauthenticated') throw error;
    return false;
  }
}

/** The organization in which a token wants to act. @throws AppError invalid_input */
function wantedOrganization({ headers }: FastifyRequest): string | null {
  const wanted = headers[organizationHeader];
  if (wanted === undefined) return null;
  if (!isId(wanted))
    throw new AppError(
      'invalid_input',
      `The header ${organizationHeader} ${notAnId(wanted, [])}; GET /v1/organizations lists your organizations with their ids.`,
    );
  return wanted;
}

/** The access cookie is valid only together with the session cookie of the same session, which no other host can plant. */
async function verifyCookies(request: FastifyRequest, services: Services, token: string): Promise<void> {
  const claims = await services.accessTokens.verify(token);
  const sealed = request.cookies[sessionCookieName(services.config.current)];
  if (sealed !== undefined && (await services.sessionCookies.open(sealed)) === claims.sessionId)
    accept(request, claims);
}

function accept(request: FastifyRequest, claims: AccessClaims): void {
  const { core } = request;
  refuseOtherOrganization(request, claims);
  core.token = claims;
  core.sessionId = claims.sessionId;
}

/**
 * A client that names an organization must not work in another one without noticing: access tokens are valid in one organization, whatever
 * the header says.
 * @throws AppError invalid_input
 */
function refuseOtherOrganization(request: FastifyRequest, { organizationId }: AccessClaims): void {
  // Elsewhere the header has no meaning, for tokens of programs neither.
  if (!request.routeOptions.config.acceptsTokens) return;
  const wanted = wantedOrganization(request);
  if (wanted === null || wanted === organizationId) return;
  const own = organizationId === null ? 'in none' : `in ${organizationId}`;
  throw new AppError(
    'invalid_input',
    `The header X-Organization-ID names ${wanted}, but this access token acts ${own}: the header chooses an organization for personal tokens only. Leave it out, or ${switchTo(wanted)}.`,
  );
}

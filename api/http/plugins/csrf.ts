import type { SerializeOptions } from '@fastify/cookie';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { LRUCache } from 'lru-cache';
import type { Config } from '#config/objects/root.ts';
import { AppError } from '#entities/kit/base/errors.ts';
import { deriveKey } from '#entities/kit/base/secrets/keys.ts';
import { onceForEach } from '#entities/kit/base/once-for-each.ts';
import { accessCookie, csrfCookie } from '../../auth/cookie-attributes.ts';
import { isSignedNonce, newSignedNonce } from '../../auth/signed-nonce.ts';
import type { Services } from '../services.ts';
import { giveCookie } from './cookies.ts';
import { signInFirst } from './sign-in-first.ts';

const mutating = new Set(['POST', 'PUT', 'PATCH', 'DELETE']);

/**
 * CSRF protection, as a signed double-submit cookie (OWASP): a mutating request must repeat the token of the cookie in a header. Its
 * signature binds it to the session (`sid` of the access token in the cookie; empty before sign-in), so values that another site
 * planted or that belong to another session are rejected. Requests with an
 * Authorization header are exempt, because browsers do not add that header by themselves. A request without the cookie of a session
 * cannot misuse one: where a session is needed, its problem is that nobody is signed in.
 */
export function csrfPlugin(app: FastifyInstance, services: Services): void {
  app.addHook('onRequest', (request, _reply, done) => {
    if (!settingsOf(services).isEnabled) return done();
    if (request.method === 'GET') renewCsrfCookie(request, services);
    const isExempt =
      !mutating.has(request.method) ||
      request.is404 ||
      request.routeOptions.config.csrf === false ||
      request.headers.authorization !== undefined;
    done(isExempt ? undefined : problemWith(request, services));
  });
}

/** Sets the cookie with every GET: the same token while it is valid for the session, otherwise a new one. */
function renewCsrfCookie(request: FastifyRequest, services: Services): void {
  const { cookie, key, attributes } = settingsOf(services);
  const { sessionId } = request.core;
  const held = request.cookies[cookie];
  const isGood = held !== undefined && isSignedNonce(key, sessionId, held);
  const token = isGood ? held : tokenOf(key, sessionId);
  giveCookie(request, cookie, token, attributes, { isForRefusals: true });
}

/** Maximum number of sessions whose token is cached. */
const maxSessions = 10_000;

const given = new LRUCache<string, { readonly key: Buffer; readonly token: string }>({ max: maxSessions });

/** The token of a session. It is cached, because creating one for every request of a client without cookies costs time. */
function tokenOf(key: Buffer, sessionId: string): string {
  // Before the sign-in all clients have the same, empty session id, but no two may share a token.
  if (sessionId === '') return newSignedNonce(key, sessionId);
  const known = given.get(sessionId);
  if (known?.key === key) return known.token;
  const token = newSignedNonce(key, sessionId);
  given.set(sessionId, { key, token });
  return token;
}

/** Sets a token for the session that begins or ends with this response. */
export function setCsrfCookie(request: FastifyRequest, services: Services, sessionId: string): void {
  const { isEnabled, cookie, key, attributes } = settingsOf(services);
  if (isEnabled) giveCookie(request, cookie, newSignedNonce(key, sessionId), attributes);
}

function problemWith(request: FastifyRequest, services: Services): AppError | undefined {
  const { header, cookie, key } = settingsOf(services);
  const sent = request.headers[header.toLowerCase()];
  if (typeof sent !== 'string' || sent === '') {
    const isSession = request.cookies[accessCookie] !== undefined || request.core.token !== undefined;
    if (!isSession && needsCaller(request)) return signInFirst();
    return new AppError(
      'csrf_token_missing',
      `Send the value of the cookie "${cookie}" in the header "${header}"; every GET request sets the cookie. ${remedyForPrograms(request)}`,
    );
  }
  if (sent === request.cookies[cookie] && isSignedNonce(key, request.core.sessionId, sent)) return undefined;
  return new AppError(
    'csrf_token_invalid',
    `The header "${header}" does not match the cookie "${cookie}" of this session; any GET request sets a new one.`,
  );
}

/** Where nobody has to be signed in, there may be no access token yet, or the header Authorization is not read. */
function remedyForPrograms({ routeOptions: { config } }: FastifyRequest): string {
  if (config.access === 'anonymous')
    return 'Programs without cookies send the header Authorization instead; here it may hold any bearer token, also an access token that has expired.';
  return config.access === 'public'
    ? 'Programs do the same before they are signed in: GET /livez sets the cookie. Afterwards they send their access token in the header Authorization instead.'
    : 'Programs without cookies send an access token in the header Authorization instead.';
}

/** Whether changes through a route need a signed-in caller. GraphQL declares no access: its mutations need one. */
function needsCaller({ routeOptions: { config } }: FastifyRequest): boolean {
  return config.access === 'required' || config.access === undefined;
}

/** Settings that follow from a configuration. */
interface CsrfSettings {
  readonly isEnabled: boolean;
  readonly header: string;
  readonly cookie: string;
  readonly attributes: SerializeOptions;
  readonly key: Buffer;
}

const settingsIn = onceForEach((current: Config): CsrfSettings => {
  const { enabled, header, cookie } = current.server.csrfprotection;
  const key = deriveKey(current.sessions.signingkey, 'csrf');
  return { isEnabled: enabled, header, cookie, attributes: csrfCookie(current), key };
});

function settingsOf({ config }: Services): CsrfSettings {
  return settingsIn(config.current);
}

import type { FastifyRequest } from 'fastify';
import { Type } from 'typebox';
import {
  accessCookie,
  credentialCookie,
  refreshCookie,
  refreshCookieName,
  sessionCookie,
  sessionCookieName,
} from '../../../auth/cookie-attributes.ts';
import type { IssuedRefreshToken } from '../../../auth/refresh-token.ts';
import { giveCookie, takeCookie } from '../../../http/plugins/cookies.ts';
import { setCsrfCookie } from '../../../http/plugins/csrf.ts';
import type { RouteResponse } from '../../../http/route.ts';
import type { Services } from '../../../http/services.ts';
import type { IssuedAccess } from './session-tokens.ts';

/** Client for which the response of a session is made. */
interface Client {
  readonly services: Services;
  readonly request: FastifyRequest;
}

const accessFields = {
  access_token: Type.String({
    description:
      'Access token; send it in the Authorization header as bearer token. It is a JWT, whose claim `modules` has the product modules of the organization at the time of issue.',
  }),
  token_type: Type.Literal('Bearer', { description: 'Type of the token.' }),
  expires_in: Type.Integer({ description: 'Seconds until the access token expires.' }),
  session_id: Type.String({ description: 'Id of the session, which ends all its tokens when it is deleted.' }),
  user_id: Type.String({ description: 'Id of the signed-in user.' }),
  organization_id: Type.Union([Type.String(), Type.Null()], {
    description: 'Id of the organization that the access token is valid for; null if the user has none.',
  }),
};

/** Response with an access token of a session. */
export const AccessSchema = Type.Object(accessFields, { title: 'AccessToken' });

/** Response with both tokens of a session. */
export const SessionSchema = Type.Object(
  {
    ...accessFields,
    refresh_token: Type.String({ description: 'Refresh token; /v1/refresh exchanges it once for new tokens.' }),
    refresh_not_before: Type.String({ format: 'date-time', description: 'When the refresh token can first be used.' }),
    refresh_expires_in: Type.Integer({ description: 'Seconds until the refresh token and the session expire.' }),
  },
  { title: 'SignedIn' },
);

/** An access token, returned and set as cookies for browsers, with a CSRF cookie of the session. */
export function accessAnswer(client: Client, access: IssuedAccess): RouteResponse {
  return { status: 200, body: giveAccess(client, access) };
}

/** Both tokens of a session. */
export function sessionAnswer(
  client: Client,
  access: IssuedAccess,
  refresh: Omit<IssuedRefreshToken, 'tokenHash'>,
): RouteResponse {
  const { services, request } = client;
  const config = services.config.current;
  const seconds = secondsUntil(refresh.expiresAt, services);
  giveCookie(request, refreshCookieName(config), refresh.token, refreshCookie(config, seconds));
  const body = {
    ...giveAccess(client, access),
    refresh_token: refresh.token,
    refresh_not_before: refresh.notBefore.toISOString(),
    refresh_expires_in: seconds,
  };
  return { status: 200, body };
}

function giveAccess({ services, request }: Client, access: IssuedAccess): object {
  const config = services.config.current;
  giveCookie(request, accessCookie, access.token, credentialCookie(config));
  giveCookie(request, sessionCookieName(config), access.sealedSession, sessionCookie(config));
  setCsrfCookie(request, services, access.sessionId);
  return {
    access_token: access.token,
    token_type: 'Bearer',
    expires_in: secondsUntil(access.expiresAt, services),
    session_id: access.sessionId,
    user_id: access.userId,
    organization_id: access.organizationId,
  };
}

/** Deletes the cookies of a session in the browser. */
export function forgetSession({ services, request }: Client): void {
  const config = services.config.current;
  takeCookie(request, accessCookie, credentialCookie(config));
  takeCookie(request, sessionCookieName(config), sessionCookie(config));
  takeCookie(request, refreshCookieName(config), refreshCookie(config, 0));
  setCsrfCookie(request, services, '');
}

function secondsUntil(time: Date, { clock }: Services): number {
  return Math.floor((time.getTime() - clock.now().getTime()) / 1_000);
}

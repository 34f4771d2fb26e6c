import type { FastifyRequest } from 'fastify';
import { Type } from 'typebox';
import { accessCookie, credentialCookie } from '../../auth/session-cookies.ts';
import { giveCookie } from '../../http/plugins/cookies.ts';
import { setCsrfCookie } from '../../http/plugins/csrf.ts';
import type { RouteResponse } from '../../http/route.ts';
import type { Services } from '../../http/services.ts';

/** Response with which a session begins. */
export const SessionSchema = Type.Object({
  access_token: Type.String({ description: 'Access token; send it in the Authorization header as bearer token.' }),
  token_type: Type.Literal('Bearer', { description: 'Type of the token.' }),
  expires_in: Type.Integer({ description: 'Seconds until the token expires.' }),
  user_id: Type.String({ description: 'Id of the signed-in user.' }),
  organization_id: Type.Union([Type.String(), Type.Null()], {
    description: 'Id of the organization that the token is valid for; null if the user has none.',
  }),
});

/** Begins a session: issues an access token, returns it and sets it as a cookie, with a new CSRF cookie. */
export async function beginSession(
  { services, request }: { readonly services: Services; readonly request: FastifyRequest },
  userId: string,
  organizationId: string | null,
): Promise<RouteResponse> {
  const issued = await services.accessTokens.issue(userId, organizationId);
  giveCookie(request, accessCookie, issued.token, credentialCookie(services.config.current));
  setCsrfCookie(request, services, issued.sessionId);
  return {
    status: 200,
    body: {
      access_token: issued.token,
      token_type: 'Bearer',
      expires_in: Math.floor((issued.expiresAt.getTime() - services.clock.now().getTime()) / 1_000),
      user_id: userId,
      organization_id: organizationId,
    },
  };
}

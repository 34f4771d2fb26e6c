import type { FastifyRequest } from 'fastify';
import { Type } from 'typebox';
import { accessCookie, credentialCookie } from '../../auth/session-cookies.ts';
import { giveCookie } from '../../http/plugins/cookies.ts';
import { setCsrfCookie } from '../../http/plugins/csrf.ts';
import type { RouteResponse } from '../../http/route.ts';
import type { Services } from '../../http/services.ts';

/** The answer with which a session begins. */
export const SessionSchema = Type.Object({
  access_token: Type.String({ description: 'Send it as bearer token.' }),
  token_type: Type.Literal('Bearer'),
  expires_in: Type.Integer({ description: 'Seconds until the token expires.' }),
  user_id: Type.String(),
  organization_id: Type.Union([Type.String(), Type.Null()], { description: 'The organization the token acts in.' }),
});

/** Begins a session: a new access token, as answer and as cookie for browsers, and a CSRF cookie of its own. */
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

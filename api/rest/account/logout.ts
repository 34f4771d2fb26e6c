import { revokeToken } from '#entities/kit/access/principal-state.ts';
import { accessCookie, credentialCookie } from '../../auth/session-cookies.ts';
import { takeCookie } from '../../http/plugins/cookies.ts';
import { setCsrfCookie } from '../../http/plugins/csrf.ts';
import { MessageSchema } from '../../http/request-schemas.ts';
import { defineRoute } from '../../http/route.ts';

/** Idempotent: without a valid token there is nothing to end. */
export const logout = defineRoute({
  method: 'POST',
  url: '/v1/logout',
  tag: 'Account',
  summary: 'Sign out',
  description: 'Revokes the presented access token at once and clears the cookies.',
  access: 'public',
  answers: { 200: MessageSchema },
  errors: [],
  handle: async ({ unit, services, request }) => {
    const { claims } = request.core;
    if (claims) await revokeToken(unit, claims.tokenId, claims.expiresAt);
    takeCookie(request, accessCookie, credentialCookie(services.config.current));
    setCsrfCookie(request, services, '');
    return { status: 200, body: { message: 'Signed out.' } };
  },
});

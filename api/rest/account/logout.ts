import { revokeToken } from '#entities/kit/access/principal-state.ts';
import { accessCookie, credentialCookie } from '../../auth/session-cookies.ts';
import { takeCookie } from '../../http/plugins/cookies.ts';
import { setCsrfCookie } from '../../http/plugins/csrf.ts';
import { MessageSchema } from '../../http/request-schemas.ts';
import { defineRoute } from '../../http/route.ts';

/** Idempotent: succeeds without a valid token, too. */
export const logout = defineRoute({
  method: 'POST',
  url: '/v1/logout',
  tag: 'Account',
  summary: 'Sign out',
  description: 'Revokes the access token of the request immediately and deletes the cookies.',
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

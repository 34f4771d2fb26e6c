import type { SerializeOptions } from '@fastify/cookie';
import type { Config } from '#config/objects/root.ts';

/** Cookie that carries the access token for browsers. */
export const accessCookie = 'access_token';

/** Cookie that carries the refresh token for browsers. */
export const refreshCookie = 'refresh_token';

/**
 * Name of the cookie that names the session of a browser. Browsers accept the prefix `__Host-` from this host only, without a domain,
 * and `__Secure-` over HTTPS only, so that no other host can plant a session (RFC 6265bis, section 4.1.3).
 */
export function sessionCookieName({ server, sessions }: Config): string {
  if (server.dev || !sessions.secure) return 'session';
  return sessions.domain === '' ? '__Host-session' : '__Secure-session';
}

/** Attributes of credential cookies (configuration `sessions`). */
export function credentialCookie(config: Config): SerializeOptions {
  const { domain, maxage, secure, httponly, samesite } = config.sessions;
  return {
    path: '/',
    maxAge: maxage,
    secure,
    httpOnly: httponly,
    ...(domain ? { domain } : {}),
    ...sameSite(samesite),
  };
}

/**
 * Attributes of the cookie with the refresh token: it lasts as long as the token, no script reads it, and only account routes get it.
 * @param seconds until the token expires
 */
export function refreshCookieAttributes(config: Config, seconds: number): SerializeOptions {
  return { ...credentialCookie(config), path: '/v1', httpOnly: true, maxAge: seconds };
}

/** Attributes of the CSRF cookie (configuration `server.csrfprotection`). */
export function csrfCookie(config: Config): SerializeOptions {
  const { secure, cookiehttponly, cookiedomain, cookiepath, samesite } = config.server.csrfprotection;
  return {
    path: cookiepath,
    secure,
    httpOnly: cookiehttponly,
    ...(cookiedomain ? { domain: cookiedomain } : {}),
    ...sameSite(samesite),
  };
}

/** `Default` omits the attribute, so that the browser decides. @fastify/cookie's hook would add Lax; its function does not. */
function sameSite(value: string): { sameSite?: 'lax' | 'strict' | 'none' } {
  const name = value.toLowerCase();
  return name === 'lax' || name === 'strict' || name === 'none' ? { sameSite: name } : {};
}

import type { SerializeOptions } from '@fastify/cookie';
import type { Config } from '#config/objects/root.ts';

/** Cookie that carries the access token for browsers. */
export const accessCookie = 'access_token';

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

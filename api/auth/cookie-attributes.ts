import type { SerializeOptions } from '@fastify/cookie';
import type { Config } from '#config/objects/root.ts';

/** Cookie that carries the access token for browsers. */
export const accessCookie = 'access_token';

/** Name of the cookie that names the session of a browser. */
export function sessionCookieName(config: Config): string {
  return hostPrefix(config) + 'session';
}

/** Name of the cookie that carries the refresh token for browsers. */
export function refreshCookieName(config: Config): string {
  return hostPrefix(config) + 'refresh_token';
}

/** Name of the cookie with the state of a sign-in at a provider. */
export function stateCookieName(config: Config): string {
  return hostPrefix(config) + 'sign_in_state';
}

/** Name of the cookie with the state of an integration that is being connected. */
export function connectCookieName(config: Config): string {
  return hostPrefix(config) + 'integration_state';
}

/** Name of the cookie that binds a sign-in with a passkey to the browser in which it begins. */
export function passkeyCookieName(config: Config): string {
  return hostPrefix(config) + 'passkey_browser';
}

/**
 * Browsers accept a cookie of this prefix only from the host itself, over HTTPS, without a domain and for all paths, so no other host
 * can plant a session (RFC 6265bis, section 4.1.3).
 */
function hostPrefix({ server, sessions }: Config): string {
  return server.dev || !sessions.secure ? '' : '__Host-';
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

/** Attributes of the session cookie: those of credentials, for this host only. */
export function sessionCookie(config: Config): SerializeOptions {
  const { domain: _domain, ...attributes } = credentialCookie(config);
  return attributes;
}

/** Attributes of the cookie with the refresh token, which no script reads. @param seconds until the token expires */
export function refreshCookie(config: Config, seconds: number): SerializeOptions {
  return { ...sessionCookie(config), httpOnly: true, maxAge: seconds };
}

/**
 * Attributes of the cookie with the state of a sign-in at a provider. Lax, whatever `sessions.samesite` says: the provider sends the
 * browser back by a link. @param seconds until the state expires
 */
export function stateCookie(config: Config, seconds: number): SerializeOptions {
  return { ...refreshCookie(config, seconds), sameSite: 'lax' };
}

/** Attributes of the cookie of a sign-in with a passkey, which no script reads. @param seconds until it expires */
export function passkeyCookie(config: Config, seconds: number): SerializeOptions {
  return refreshCookie(config, seconds);
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

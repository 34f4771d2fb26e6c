import type { Config } from '#config/objects/root.ts';

/** Path of the public key set, whatever `auth.token.jwksendpoint` says. */
export const keySetPath = '/.well-known/jwks.json';

/** The path of `auth.token.jwksendpoint` on this server; undefined when it is empty or another server answers there. */
export function ownKeySetPath(config: Config): string | undefined {
  const url = URL.parse(config.auth.token.jwksendpoint);
  return url && isOwn(url, config) ? url.pathname : undefined;
}

/** `auth.token.jwksendpoint`, when another server answers there. */
export function foreignKeySet(config: Config): URL | undefined {
  const url = URL.parse(config.auth.token.jwksendpoint);
  return url && !isOwn(url, config) ? url : undefined;
}

/** Where clients find the public keys that this server publishes, or those of the other server. */
export function announcedKeySet(config: Config): string {
  const { jwksendpoint, issuer } = config.auth.token;
  return jwksendpoint || `${baseUrl(config) || issuer.replace(/\/+$/, '')}${keySetPath}`;
}

/** Whether this server answers under that address: the origin of the issuer, or of the links in mails. */
function isOwn({ origin }: URL, { auth, integrations }: Config): boolean {
  return [auth.token.issuer, integrations.email.apiurl].some((own) => URL.parse(own)?.origin === origin);
}

function baseUrl({ integrations }: Config): string {
  return integrations.email.apiurl.replace(/\/+$/, '');
}

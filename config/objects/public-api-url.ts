import type { Config } from './root.ts';

/** Base of links that lead to this server, without a slash at its end: as configured, never taken from a request. */
export function publicApiUrl({ integrations, auth }: Config): string {
  return (integrations.email.apiurl || auth.token.issuer).replace(/\/+$/, '');
}

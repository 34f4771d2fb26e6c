import type { Config } from './root.ts';

/** Base of links that lead to this server, without a slash at its end: as configured, never taken from a request. */
export function publicApiUrl({ integrations, auth }: Config): string {
  return (integrations.email.apiurl || auth.token.issuer).replace(/\/+$/, '');
}

/** The name in it, by which clients reach this server; empty where nothing is configured. */
export function publicApiName(config: Config): string {
  const url = publicApiUrl(config);
  return URL.canParse(url) ? new URL(url).hostname : '';
}

import type * as openid from 'openid-client';
import { retryAfterMs } from '#entities/kit/base/retry-after.ts';
import type { Credential, OpeningContext } from '../definition.ts';
import { errorOfStatus } from '../provider-answer.ts';
import { endOf, keptText } from './kept-tokens.ts';
import { translated } from './oauth-failures.ts';

/** Difference between the clocks of a provider and of this server that is tolerated, in seconds. */
export const toleranceS = 60;

/** Longest lifetime of a refresh token that is believed, in seconds: ten years. */
const maxLifetimeS = 315_360_000;

export type OAuthContext = Pick<OpeningContext, 'config' | 'http' | 'now'>;

export interface OAuthClient {
  /** Without it, the metadata are read from the discovery document of the issuer. */
  readonly metadata?: openid.ServerMetadata;
  readonly issuer: string;
  readonly clientId: string;
  readonly clientSecret: string;
}

export interface OpenedClient {
  readonly library: typeof openid;
  readonly configuration: openid.Configuration;
}

/** Tokens of a provider, and when the access token ends if the provider says so. */
export interface Tokens {
  readonly accessToken: string;
  readonly refreshToken?: string;
  readonly expiresAt?: string;
  /** When the refresh token ends. */
  readonly endsAt?: string;
}

/** A client of the provider for one credential. The library is loaded when an integration is first used. @throws ProviderError */
export async function openClient(context: OAuthContext, client: OAuthClient): Promise<OpenedClient> {
  const library = await import('openid-client');
  const { issuer, clientId, clientSecret } = client;
  const { dev } = context.config.server;
  const fetch = fetchOf(context);
  const metadata = client.metadata ?? (await discoveredMetadata(library, issuer, { fetch, dev }));
  const skewS = Math.round((context.now().getTime() - Date.now()) / 1_000);
  const configuration = new library.Configuration(
    metadata,
    clientId,
    { client_secret: clientSecret, [library.clockSkew]: skewS, [library.clockTolerance]: toleranceS },
    authenticationOf(library, metadata, clientSecret),
  );
  configuration[library.customFetch] = fetch;
  // The way out (`context.http`) decides which URLs are asked.
  if (dev) library.allowInsecureRequests(configuration);
  return { library, configuration };
}

/** Renews the access token of a credential. The provider may replace the refresh token with each use. @throws ProviderError unauthorized */
export async function refreshedTokens(
  context: OAuthContext,
  { library, configuration }: OpenedClient,
  credential: Credential,
): Promise<Tokens> {
  const refreshToken = keptText(credential, 'refreshToken');
  const given = await translated(library, () => library.refreshTokenGrant(configuration, refreshToken));
  const endsAt = endOf(credential)?.toISOString();
  return { refreshToken, ...(endsAt === undefined ? {} : { endsAt }), ...tokensOf(given, context.now()) };
}

/** An access token of the app itself. @throws ProviderError unauthorized */
export async function tokensOfApp(
  context: OAuthContext,
  { library, configuration }: OpenedClient,
  scope: string,
): Promise<Tokens> {
  const given = await translated(library, () => library.clientCredentialsGrant(configuration, { scope }));
  return tokensOf(given, context.now());
}

export function tokensOf(given: openid.TokenEndpointResponse, now: Date): Tokens {
  const { access_token: accessToken, refresh_token: refreshToken, expires_in: seconds } = given;
  // Not of a standard, but several providers have it.
  const lifetimeS = Number(given['refresh_token_expires_in']);
  return {
    accessToken,
    ...(refreshToken === undefined ? {} : { refreshToken }),
    ...(seconds === undefined ? {} : { expiresAt: after(now, seconds) }),
    ...(lifetimeS > 0 && lifetimeS <= maxLifetimeS ? { endsAt: after(now, lifetimeS) } : {}),
  };
}

function after(now: Date, seconds: number): string {
  return new Date(now.getTime() + seconds * 1_000).toISOString();
}

async function discoveredMetadata(
  library: typeof openid,
  issuer: string,
  { fetch, dev }: { readonly fetch: openid.CustomFetch; readonly dev: boolean },
): Promise<openid.ServerMetadata> {
  const found = await translated(library, () =>
    library.discovery(new URL(issuer), 'discovery', undefined, undefined, {
      [library.customFetch]: fetch,
      ...(dev ? { execute: [library.allowInsecureRequests] } : {}),
    }),
  );
  return found.serverMetadata();
}

/** OpenID Connect Discovery, section 3: without a list, `client_secret_basic`. */
function authenticationOf(
  library: typeof openid,
  { token_endpoint_auth_methods_supported: methods = ['client_secret_basic'] }: openid.ServerMetadata,
  secret: string,
): openid.ClientAuth {
  return methods.includes('client_secret_basic') ? library.ClientSecretBasic(secret) : library.ClientSecretPost(secret);
}

/** Answers of which the library would only say that they do not conform become errors by their status. */
function fetchOf({ http, now }: OAuthContext): openid.CustomFetch {
  return async (url, { method, headers, body, signal }) => {
    const text = body instanceof URLSearchParams || typeof body === 'string' ? { body } : {};
    const response = await http.fetch(url, { method, headers, ...text, ...(signal ? { signal } : {}) });
    const { status } = response;
    if (status !== 429 && status < 500 && (status < 300 || status >= 400)) return response;
    throw errorOfStatus(status, retryAfterMs(response.headers.get('retry-after'), now()));
  };
}

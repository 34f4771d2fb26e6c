import { LRUCache } from 'lru-cache';
import * as client from 'openid-client';
import type { Clock } from '#entities/kit/base/clock.ts';
import { parseEmail } from '#entities/kit/base/email-address.ts';
import { AppError } from '#entities/kit/base/errors.ts';
import { AskedOnce } from './asked-once.ts';
import { maxRequestMs, outgoingFetch, unavailable, type OutgoingRules } from './outgoing-fetch.ts';

/** How long the metadata and the keys of a provider are kept, in milliseconds. */
const cacheMs = 10 * 60_000;

/** Maximum number of providers that are kept. */
const maxProviders = 500;

/** Difference between the clocks of a provider and of this server that is tolerated, in seconds. */
const toleranceS = 60;

/** Maximum lengths of what a provider says about a person. */
const lengths = { subject: 255, email: 254, name: 128 } as const;

/** An OAuth 2.0 server that does not speak OpenID Connect: people are asked for at two addresses of its API. */
interface UserEndpoints {
  readonly metadata: client.ServerMetadata;
  /** Returns the person: `id`, `login` and `name`. */
  readonly user: string;
  /** Returns the addresses of the person, one of which is `primary`, with `verified`. */
  readonly emails: string;
}

export interface ProviderSettings {
  readonly issuer: string;
  /** URL of its OpenID Connect metadata, where that is not below `issuer`. */
  readonly discoveryUrl?: string;
  readonly clientId: string;
  readonly clientSecret: string;
  readonly scopes: readonly string[];
  /** Where the provider sends the browser back to: from the configuration, never from a request. */
  readonly callbackUrl: string;
  /** Without it, the provider speaks OpenID Connect. */
  readonly endpoints?: UserEndpoints;
  readonly rules: OutgoingRules;
}

/** Values by which the answer of a provider is known to belong to a request. */
interface RequestSecrets {
  readonly state: string;
  readonly nonce: string;
  readonly verifier: string;
}

/** A person as a provider knows them. */
export interface ProviderIdentity {
  readonly issuer: string;
  readonly subject: string;
  /** In lower case; null unless the provider has verified it. */
  readonly email: string | null;
  readonly name: string | null;
}

interface Known {
  readonly metadata: client.ServerMetadata;
  jwks: client.ExportedJWKSCache | undefined;
}

/** Sign-in at OAuth 2.0 and OpenID Connect providers: authorization code with PKCE, state and nonce (RFC 9700, section 2.1). */
export class SignInProviders {
  readonly #clock: Clock;
  readonly #timeoutMs: number;
  /** By issuer, and where its metadata are; servers with known endpoints apart. */
  readonly #known = new LRUCache<string, Known>({ max: maxProviders, ttl: cacheMs });
  readonly #discoveries: AskedOnce<client.ServerMetadata>;

  /** @param timeoutMs maximum duration of a request to a provider, in milliseconds */
  constructor(clock: Clock, timeoutMs = maxRequestMs) {
    this.#clock = clock;
    this.#timeoutMs = timeoutMs;
    this.#discoveries = new AskedOnce(clock, maxProviders);
  }

  /** @returns where the browser goes, and what must be known when it comes back */
  async begin(settings: ProviderSettings): Promise<RequestSecrets & { readonly url: string }> {
    const { config } = await this.#configure(settings);
    const secrets = {
      state: client.randomState(),
      nonce: client.randomNonce(),
      verifier: client.randomPKCECodeVerifier(),
    };
    const url = await translated(async () =>
      client.buildAuthorizationUrl(config, {
        redirect_uri: settings.callbackUrl,
        scope: settings.scopes.join(' '),
        state: secrets.state,
        code_challenge: await client.calculatePKCECodeChallenge(secrets.verifier),
        code_challenge_method: 'S256',
        ...(settings.endpoints ? {} : { nonce: secrets.nonce }),
      }),
    );
    return { ...secrets, url: url.href };
  }

  /**
   * Exchanges the code of a callback and asks who the person is.
   * @param answer the parameters of the callback
   * @param begunAt when the request was made, to the second
   * @throws AppError provider_sign_in_failed, provider_unavailable
   */
  async finish(
    settings: ProviderSettings,
    answer: URLSearchParams,
    secrets: RequestSecrets,
    begunAt: Date,
  ): Promise<ProviderIdentity> {
    const { config, known } = await this.#configure(settings);
    const url = new URL(settings.callbackUrl);
    url.search = answer.toString();
    const { endpoints } = settings;
    return translated(async () => {
      const checks = { expectedState: secrets.state, pkceCodeVerifier: secrets.verifier };
      const tokens = await client.authorizationCodeGrant(
        config,
        url,
        endpoints ? checks : { ...checks, expectedNonce: secrets.nonce, idTokenExpected: true },
        { redirect_uri: settings.callbackUrl },
      );
      known.jwks = client.getJwksCache(config);
      if (endpoints) return personAt(config, tokens.access_token, settings.issuer, endpoints);
      const claims = tokens.claims();
      if (!claims) throw failed('it sent no id token');
      this.#checkIssueTime(claims.iat, begunAt);
      const isAsked = claims['email'] === undefined && config.serverMetadata().userinfo_endpoint !== undefined;
      const person = isAsked ? await client.fetchUserInfo(config, tokens.access_token, claims.sub) : claims;
      return identityOf(claims.iss, claims.sub, {
        email: person['email_verified'] === true ? person['email'] : undefined,
        name: person['name'],
      });
    });
  }

  /** A token that is older than the request was not made for it (OpenID Connect Core, section 3.1.3.7). */
  #checkIssueTime(issuedAt: number, begunAt: Date): void {
    const now = this.#clock.now().getTime() / 1_000;
    if (issuedAt > now + toleranceS || issuedAt < begunAt.getTime() / 1_000 - toleranceS)
      throw failed('its id token was not issued during this sign-in');
  }

  /** A client for one sign-in, with the cached metadata and keys of the provider. */
  async #configure(settings: ProviderSettings): Promise<{ config: client.Configuration; known: Known }> {
    const { issuer, discoveryUrl, clientId, clientSecret, endpoints, rules } = settings;
    const fetch: client.CustomFetch = (url, request) => outgoingFetch(url, request, rules, this.#timeoutMs);
    // A server of which the endpoints are known may be the issuer of another organization's provider, which is asked for its metadata.
    // A URL that an organization may not ask can be one that the operator may.
    const reach = rules.allowsPrivate ? 'everywhere' : 'outside';
    const key = endpoints ? `endpoints of ${issuer}` : `${reach} ${issuer} ${discoveryUrl ?? ''}`;
    let known = this.#known.get(key);
    if (!known) {
      const found: client.CustomFetch = (url, request) => fetch(discoveryUrl ?? url, request);
      const asked = endpoints?.metadata ?? (await this.#discoveries.ask(key, () => discover(issuer, found, rules)));
      known = { metadata: asked, jwks: undefined };
      this.#known.set(key, known);
    }
    const { metadata } = known;
    const skewS = Math.round((this.#clock.now().getTime() - Date.now()) / 1_000);
    const config = new client.Configuration(
      metadata,
      clientId,
      { client_secret: clientSecret, [client.clockSkew]: skewS, [client.clockTolerance]: toleranceS },
      authenticationOf(metadata, clientSecret),
    );
    config[client.customFetch] = fetch;
    // `outgoingFetch` decides which URLs are asked.
    if (rules.isDev) client.allowInsecureRequests(config);
    if (!endpoints) client.enableNonRepudiationChecks(config);
    if (known.jwks) client.setJwksCache(config, known.jwks);
    return { config, known };
  }
}

async function discover(
  issuer: string,
  fetch: client.CustomFetch,
  { isDev }: OutgoingRules,
): Promise<client.ServerMetadata> {
  const found = await translated(
    () =>
      client.discovery(new URL(issuer), 'discovery', undefined, undefined, {
        [client.customFetch]: fetch,
        ...(isDev ? { execute: [client.allowInsecureRequests] } : {}),
      }),
    (cause) => unavailable('its metadata are not those of an OpenID Connect provider of this issuer', cause),
  );
  const metadata = found.serverMetadata();
  // The library does not compare them for every form of URL. A provider that names another issuer would sign in the people of that one.
  if (new URL(metadata.issuer).href !== new URL(issuer).href)
    throw unavailable('its metadata are those of another issuer');
  const { code_challenge_methods_supported: methods } = metadata;
  if (methods !== undefined && !methods.includes('S256'))
    throw unavailable('it does not support PKCE with S256, which this server requires');
  const { authorization_endpoint, token_endpoint, jwks_uri } = metadata;
  for (const [name, endpoint] of Object.entries({ authorization_endpoint, token_endpoint, jwks_uri }))
    if (
      typeof endpoint !== 'string' ||
      !(isDev ? /^https?:\/\// : /^https:\/\//).test(endpoint) ||
      !URL.canParse(endpoint)
    )
      throw unavailable(`its ${name} is not a URL that begins with https://`);
  return metadata;
}

/** OpenID Connect Discovery, section 3: without a list, `client_secret_basic`. */
function authenticationOf(
  { token_endpoint_auth_methods_supported: methods = ['client_secret_basic'] }: client.ServerMetadata,
  secret: string,
): client.ClientAuth {
  return methods.includes('client_secret_basic') ? client.ClientSecretBasic(secret) : client.ClientSecretPost(secret);
}

/** The person at a provider without OpenID Connect, whose API is the only proof. */
async function personAt(
  config: client.Configuration,
  token: string,
  issuer: string,
  { user, emails }: UserEndpoints,
): Promise<ProviderIdentity> {
  const ask = async (url: string): Promise<unknown> => {
    const headers = new Headers({ accept: 'application/json', 'user-agent': 'core-server' });
    const response = await client.fetchProtectedResource(config, token, new URL(url), 'GET', null, headers);
    if (response.status !== 200) throw failed(`it answers with status ${response.status}`);
    return response.json().catch((error: unknown) => {
      throw failed('its answer is not JSON', error);
    });
  };
  const person = (await ask(user)) as {
    readonly id?: unknown;
    readonly login?: unknown;
    readonly name?: unknown;
  } | null;
  // A number; names of accounts can be given to somebody else.
  if (!Number.isSafeInteger(person?.id)) throw failed('it does not identify the person');
  const all = await ask(emails);
  const primary = (Array.isArray(all) ? all : []).find(
    (one: { readonly primary?: unknown; readonly verified?: unknown } | null) =>
      one?.primary === true && one.verified === true,
  ) as { readonly email?: unknown } | undefined;
  return identityOf(issuer, String(person?.id), { email: primary?.email, name: person?.name ?? person?.login });
}

function identityOf(
  issuer: string,
  subject: string,
  { email, name }: { readonly email: unknown; readonly name: unknown },
): ProviderIdentity {
  if (subject === '' || subject.length > lengths.subject || /[^\u0020-\u007E]/.test(subject))
    throw failed('the id of the person is not valid');
  // A text that is no address proves nothing: its domain decides who comes in.
  const address = typeof email === 'string' ? parseEmail(email)?.address : undefined;
  const shown = typeof name === 'string' ? name.replaceAll(/\p{C}/gu, '').trim().slice(0, lengths.name) : '';
  return {
    issuer,
    subject,
    email: address !== undefined && address.length <= lengths.email ? address : null,
    name: shown || null,
  };
}

/** The error for a provider whose answer does not prove who the person is. @param cause for operators */
export function failed(reason: string, cause?: unknown): AppError {
  return new AppError('provider_sign_in_failed', `The provider did not sign you in: ${reason}. Begin again.`, {
    cause,
  });
}

/** Runs steps of the protocol, whose errors become ours. */
async function translated<T>(
  work: () => Promise<T>,
  otherwise = (cause: unknown) => failed('its answer is not valid', cause),
): Promise<T> {
  try {
    return await work();
  } catch (error) {
    const own = ownError(error);
    if (own) throw own;
    throw otherwise(error);
  }
}

/** The error that `outgoingFetch` threw, which the library wraps. */
function ownError(error: unknown): AppError | undefined {
  for (let cause = error; cause instanceof Error; cause = cause.cause) if (cause instanceof AppError) return cause;
  return undefined;
}

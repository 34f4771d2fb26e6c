import { randomUUID } from 'node:crypto';
import { exportJWK, generateKeyPair, SignJWT, type CryptoKey, type JWTPayload } from 'jose';
import { calculatePKCECodeChallenge } from 'openid-client';
import { HttpFake, type Answering, type FakeRequest } from '../http-fake.ts';
import { misbehave, type Misbehaviour } from './misbehaviour.ts';

/** A person who signs in at the fake. */
export interface GraphPerson {
  readonly tenantId: string;
  /** Id of the person in the directory of the tenant. */
  readonly id: string;
}

interface IssuedCode {
  readonly person: GraphPerson;
  readonly nonce: string | null;
  readonly challenge: string | null;
  readonly redirectUri: string | null;
}

/** Owner of a token: a person, or the app itself in a tenant. */
export interface TokenOwner {
  readonly tenantId: string;
  readonly personId: string | null;
}

const tokenLifetimeS = 3_600;

/** All fakes of a process sign with them: making them takes long. */
let keys: ReturnType<typeof generateKeyPair> | undefined;

/** The sign-in server and the graph in one server; what the graph answers is given by those who extend it. */
export abstract class FakeGraph {
  readonly client = { id: 'id-of-the-app', secret: 'secret-of-the-app' };
  /** Treatment of the next requests, before it works again. */
  readonly next: Misbehaviour[] = [];
  /** Treatment of all requests. */
  always: Misbehaviour | undefined;
  /** Runs before each request is answered, and may answer in its place. */
  before: ((request: FakeRequest) => Promise<Answering | undefined> | Answering | undefined) | undefined;
  /** Changes the claims of id tokens. */
  claims: (claims: JWTPayload) => JWTPayload = (claims) => claims;
  /** Tenants that let the app in. */
  readonly consenting = new Set<string>();
  /** Secrets that it has given out or taken: codes and tokens. */
  readonly secrets: string[] = [];
  readonly now: () => Date;
  #http: HttpFake | undefined;
  #keys: { readonly privateKey: CryptoKey; readonly publicKey: CryptoKey } | undefined;
  readonly #codes = new Map<string, IssuedCode>();
  readonly #tokens = new Map<string, TokenOwner & { readonly endsAt: number }>();
  readonly #refreshTokens = new Map<string, GraphPerson>();

  protected constructor(now: () => Date) {
    this.now = now;
  }

  get url(): string {
    return this.#http?.url ?? '';
  }

  /** Where the interfaces of the provider are, by their usual URLs. */
  get urls(): Readonly<Record<string, string>> {
    return { 'https://login.microsoftonline.com': this.url, 'https://graph.microsoft.com': this.url };
  }

  get requests(): readonly FakeRequest[] {
    return this.#http?.requests ?? [];
  }

  async close(): Promise<void> {
    await this.#http?.close();
  }

  /** The URL to which an administrator is sent back who consents. @param location of the request */
  consent(location: string, tenantId: string): URL {
    const asked = new URL(location);
    if (!asked.pathname.endsWith('/v2.0/adminconsent')) throw new Error(`${location} asks for no consent`);
    this.consenting.add(tenantId);
    return backTo(asked, { tenant: tenantId, admin_consent: 'True' });
  }

  /** The URL to which a person is sent back who signs in. @param location of the request */
  approve(location: string, person: GraphPerson): URL {
    const asked = new URL(location);
    const { searchParams } = asked;
    const code = this.#secret('code');
    this.#codes.set(code, {
      person,
      nonce: searchParams.get('nonce'),
      challenge: searchParams.get('code_challenge_method') === 'S256' ? searchParams.get('code_challenge') : null,
      redirectUri: searchParams.get('redirect_uri'),
    });
    return backTo(asked, { code });
  }

  /** Ends all access tokens. */
  endTokens(): void {
    this.#tokens.clear();
  }

  /** Ends all refresh tokens: the person has withdrawn the app. */
  endRefreshTokens(): void {
    this.#refreshTokens.clear();
  }

  /** A token of the app in a tenant, as if it had asked for it. */
  tokenOf(owner: TokenOwner): string {
    const token = this.#secret('access');
    this.#tokens.set(token, { ...owner, endsAt: this.now().getTime() + tokenLifetimeS * 1_000 });
    return token;
  }

  /** @param path from the version on */
  protected abstract answerOfGraph(path: string, request: FakeRequest, owner: TokenOwner): Answering;

  protected async listen(): Promise<void> {
    this.#keys = await (keys ??= generateKeyPair('RS256'));
    this.#http = await HttpFake.start((request) => this.#answer(request));
  }

  async #answer(request: FakeRequest): Promise<Answering> {
    const instead = await this.before?.(request);
    if (instead) return instead;
    const misbehaviour = this.next.shift() ?? this.always;
    if (misbehaviour) return misbehave(misbehaviour, `${this.url}/elsewhere`);
    const { path, headers, body } = request;
    if (path.startsWith('/v1.0/')) {
      const owner = this.#tokens.get((headers.authorization ?? '').replace(/^Bearer /, ''));
      if (!owner || owner.endsAt <= this.now().getTime()) return graphError(401, 'InvalidAuthenticationToken');
      return this.answerOfGraph(path.slice('/v1.0'.length), request, owner);
    }
    const [, tenant = '', rest] = /^\/([^/]+)\/(.*)$/.exec(path) ?? [];
    if (rest === 'discovery/v2.0/keys' && this.#keys) {
      const key = await exportJWK(this.#keys.publicKey);
      return { status: 200, body: { keys: [{ ...key, use: 'sig', alg: 'RS256', kid: 'key-1' }] } };
    }
    if (rest === 'oauth2/v2.0/token' && request.method === 'POST')
      return this.#token(tenant, new URLSearchParams(body));
    return { status: 404, body: null, text: 'not found' };
  }

  async #token(tenant: string, form: URLSearchParams): Promise<Answering> {
    if (form.get('client_id') !== this.client.id || form.get('client_secret') !== this.client.secret)
      return tokenError('invalid_client', 'AADSTS7000215: Invalid client secret provided.');
    switch (form.get('grant_type') ?? '') {
      case 'client_credentials':
        if (!this.consenting.has(tenant))
          return tokenError('unauthorized_client', 'AADSTS700016: not found in the directory');
        return this.#issued({ tenantId: tenant, personId: null });
      case 'authorization_code':
        return this.#exchange(form);
      case 'refresh_token': {
        const used = form.get('refresh_token') ?? '';
        const person = this.#refreshTokens.get(used);
        if (!person) return tokenError('invalid_grant', 'AADSTS70008: The refresh token has expired.');
        // Each one works once.
        this.#refreshTokens.delete(used);
        return this.#issued({ tenantId: person.tenantId, personId: person.id }, this.#refreshToken(person));
      }
      default:
        return tokenError('unsupported_grant_type', 'AADSTS70003');
    }
  }

  async #exchange(form: URLSearchParams): Promise<Answering> {
    const code = form.get('code') ?? '';
    const issued = this.#codes.get(code);
    this.#codes.delete(code);
    const challenge = await calculatePKCECodeChallenge(form.get('code_verifier') ?? '');
    if (!issued || issued.challenge !== challenge || issued.redirectUri !== form.get('redirect_uri'))
      return tokenError('invalid_grant', 'AADSTS54005: The code was already redeemed.');
    const { person, nonce } = issued;
    const owner = { tenantId: person.tenantId, personId: person.id };
    // A nonce is sent with the scope `openid` alone.
    if (nonce === null) return this.#issued(owner, this.#refreshToken(person));
    return this.#issued(owner, undefined, await this.#idToken(person, nonce));
  }

  #issued(owner: TokenOwner, refreshToken?: string, idToken?: string): Answering {
    const body = {
      token_type: 'Bearer',
      expires_in: tokenLifetimeS,
      access_token: this.tokenOf(owner),
      ...(refreshToken === undefined ? {} : { refresh_token: refreshToken }),
      ...(idToken === undefined ? {} : { id_token: idToken }),
    };
    return { status: 200, body };
  }

  #refreshToken(person: GraphPerson): string {
    const token = this.#secret('refresh');
    this.#refreshTokens.set(token, person);
    return token;
  }

  #idToken({ tenantId, id }: GraphPerson, nonce: string): Promise<string> {
    if (!this.#keys) throw new Error('the fake is not started');
    const now = Math.floor(this.now().getTime() / 1_000);
    const claims = this.claims({
      iss: `${this.url}/${tenantId}/v2.0`,
      aud: this.client.id,
      sub: `pairwise-${id}`,
      iat: now,
      exp: now + 3_600,
      nonce,
      tid: tenantId,
      oid: id,
    });
    return new SignJWT(claims).setProtectedHeader({ alg: 'RS256', kid: 'key-1' }).sign(this.#keys.privateKey);
  }

  #secret(sort: string): string {
    const secret = `${sort}-${randomUUID()}`;
    this.secrets.push(secret);
    return secret;
  }
}

export function graphError(status: number, code: string): Answering {
  return { status, body: { error: { code, message: `message of ${code}`, innerError: { date: '2026-01-01' } } } };
}

function tokenError(error: string, description: string): Answering {
  return {
    status: error === 'invalid_client' ? 401 : 400,
    body: { error, error_description: description, error_codes: [1] },
  };
}

function backTo(asked: URL, parameters: Readonly<Record<string, string>>): URL {
  const url = new URL(asked.searchParams.get('redirect_uri') ?? '');
  for (const [name, value] of Object.entries(parameters)) url.searchParams.set(name, value);
  url.searchParams.set('state', asked.searchParams.get('state') ?? '');
  return url;
}

import { createHash, randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { exportJWK, generateKeyPair, SignJWT, type CryptoKey, type JWTPayload } from 'jose';

/** Claims of a provider about a person. */
export interface FakePerson {
  readonly sub: string;
  readonly email?: string;
  readonly email_verified?: boolean;
  readonly name?: string;
}

interface Grant {
  readonly person: FakePerson;
  readonly nonce: string | null;
  readonly challenge: string | null;
  readonly redirectUri: string | null;
}

type Answer = (response: ServerResponse, request: IncomingMessage) => void;

/**
 * A sign-in provider that tests control: OpenID Connect, and below /login/oauth and /api/v3 OAuth 2.0 with an API of
 * people. It checks what a provider must check (code, client, redirect URI, PKCE), and lies where a test sets it.
 */
export class FakeIdentityProvider {
  url = '';
  client = { id: 'core-client', secret: 'secret-of-the-client' };
  /** Paths of all requests, in their order. */
  readonly asked: string[] = [];
  /** Secrets that it has given out: codes, tokens. */
  readonly secrets: string[] = [];
  /** Answers in place of its own, by path. */
  readonly instead = new Map<string, Answer>();
  /** Changes the claims of id tokens. */
  claims: (claims: JWTPayload) => JWTPayload = (claims) => claims;
  /** Changes its metadata. */
  metadata: Readonly<Record<string, unknown>> = {};
  /** Accepts a code more than once. */
  acceptsCodesAgain = false;
  /** Addresses that its API of people returns in place of that of the person. */
  addresses: unknown;
  readonly #now: () => Date;
  readonly #grants = new Map<string, Grant>();
  readonly #people = new Map<string, FakePerson>();
  #keys: { readonly privateKey: CryptoKey; readonly publicKey: CryptoKey } | undefined;
  readonly #server = createServer((request, response) => {
    void this.#answer(request, response);
  });

  private constructor(now: () => Date) {
    this.#now = now;
  }

  static async start(now: () => Date): Promise<FakeIdentityProvider> {
    const provider = new FakeIdentityProvider(now);
    provider.#keys = await generateKeyPair('ES256');
    provider.#server.listen(0, '127.0.0.1');
    await once(provider.#server, 'listening');
    provider.url = `http://127.0.0.1:${(provider.#server.address() as AddressInfo).port}`;
    return provider;
  }

  /** The URL to which the provider sends the browser back after the person has signed in there. @param location of the request */
  approve(location: string, person: FakePerson): URL {
    const { searchParams: asked } = new URL(location);
    const code = randomUUID();
    this.secrets.push(code);
    this.#grants.set(code, {
      person,
      nonce: asked.get('nonce'),
      challenge: asked.get('code_challenge_method') === 'S256' ? asked.get('code_challenge') : null,
      redirectUri: asked.get('redirect_uri'),
    });
    const url = new URL(asked.get('redirect_uri') ?? '');
    url.searchParams.set('code', code);
    url.searchParams.set('state', asked.get('state') ?? '');
    return url;
  }

  /** Behaves again. */
  reset(): void {
    this.instead.clear();
    this.claims = (claims) => claims;
    this.metadata = {};
    this.acceptsCodesAgain = false;
    this.addresses = undefined;
  }

  async close(): Promise<void> {
    this.#server.closeAllConnections();
    this.#server.close();
    await once(this.#server, 'close');
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const [path = ''] = (request.url ?? '').split('?', 1);
    this.asked.push(path);
    let body = '';
    for await (const chunk of request as AsyncIterable<Buffer>) body += chunk.toString();
    const special = this.instead.get(path);
    if (special) return special(response, request);
    const form = new URLSearchParams(body);
    const person = this.#people.get((request.headers.authorization ?? '').replace(/^Bearer /, ''));
    if (path === '/.well-known/openid-configuration') return json(response, this.#metadata());
    if (path === '/jwks') return json(response, await this.#jwks());
    if (path === '/token') return this.#token(request, response, form, true);
    if (path === '/login/oauth/access_token') return this.#token(request, response, form, false);
    if (!person) return json(response, { error: 'unknown token or path' }, 401);
    if (path === '/userinfo') return json(response, person);
    if (path === '/api/v3/user') return json(response, { id: Number(person.sub), login: 'login', name: person.name });
    const { email, email_verified: verified } = person;
    return json(
      response,
      this.addresses !== undefined
        ? this.addresses
        : [
            { email: 'other@example.com', primary: false, verified: true },
            ...(email === undefined ? [] : [{ email, primary: true, verified }]),
          ],
    );
  }

  #metadata(): object {
    return {
      issuer: this.url,
      authorization_endpoint: `${this.url}/authorize`,
      token_endpoint: `${this.url}/token`,
      jwks_uri: `${this.url}/jwks`,
      userinfo_endpoint: `${this.url}/userinfo`,
      response_types_supported: ['code'],
      subject_types_supported: ['public'],
      id_token_signing_alg_values_supported: ['ES256'],
      code_challenge_methods_supported: ['S256'],
      ...this.metadata,
    };
  }

  async #jwks(): Promise<object> {
    return { keys: [{ ...(await exportJWK(this.#keyPair.publicKey)), kid: 'key', alg: 'ES256', use: 'sig' }] };
  }

  get #keyPair() {
    if (!this.#keys) throw new Error('the provider has not been started');
    return this.#keys;
  }

  async #token(
    request: IncomingMessage,
    response: ServerResponse,
    form: URLSearchParams,
    isOidc: boolean,
  ): Promise<void> {
    const code = form.get('code') ?? '';
    const grant = this.#grants.get(code);
    if (!this.acceptsCodesAgain) this.#grants.delete(code);
    const basic = Buffer.from((request.headers.authorization ?? '').replace(/^Basic /, ''), 'base64').toString();
    const given =
      basic === ''
        ? `${form.get('client_id')}:${form.get('client_secret')}`
        : decodeURIComponent(basic.replaceAll('+', ' '));
    const challenge = createHash('sha256')
      .update(form.get('code_verifier') ?? '')
      .digest('base64url');
    const isRight =
      grant?.challenge === challenge &&
      grant.redirectUri === form.get('redirect_uri') &&
      given === `${this.client.id}:${this.client.secret}`;
    if (!isRight) return json(response, { error: 'invalid_grant', error_description: String(form) }, 400);
    const token = randomUUID();
    this.#people.set(token, grant.person);
    this.secrets.push(token);
    const answer = { access_token: token, token_type: 'Bearer', expires_in: 60 };
    if (!isOidc) return json(response, answer);
    const now = Math.floor(this.#now().getTime() / 1_000);
    const { sub, ...others } = grant.person;
    const claims = this.claims({
      iss: this.url,
      aud: this.client.id,
      sub,
      iat: now,
      exp: now + 300,
      ...(grant.nonce === null ? {} : { nonce: grant.nonce }),
      ...others,
    });
    const idToken = await new SignJWT(claims)
      .setProtectedHeader({ alg: 'ES256', kid: 'key' })
      .sign(this.#keyPair.privateKey);
    this.secrets.push(idToken);
    return json(response, { ...answer, id_token: idToken });
  }
}

function json(response: ServerResponse, body: unknown, status = 200): void {
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
}

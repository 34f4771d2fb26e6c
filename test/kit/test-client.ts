import type { FastifyInstance, InjectOptions, LightMyRequestResponse } from 'fastify';
import type { ConfigStore } from '#config/live/config-store.ts';
import { secretInAnswer } from './fuzz/leaked-secret.ts';

export interface TestAnswer {
  /** URL of the request. */
  readonly url: string;
  readonly status: number;
  readonly headers: LightMyRequestResponse['headers'];
  /** Parsed JSON, or the text. */
  readonly body: any; // eslint-disable-line typescript/no-explicit-any -- answers are asserted, not typed
}

/** Talks to the application like a browser: keeps cookies and repeats the CSRF cookie in its header. */
export class TestClient {
  readonly #app: FastifyInstance;
  readonly #config: ConfigStore;
  readonly cookies = new Map<string, string>();
  /** Sent as bearer token when set. */
  bearer: string | undefined;
  /** Network address the requests come from. */
  address = '127.0.0.1';

  constructor(app: FastifyInstance, config: ConfigStore) {
    this.#app = app;
    this.#config = config;
  }

  get(url: string, headers: Record<string, string> = {}): Promise<TestAnswer> {
    return this.request({ method: 'GET', url, headers });
  }

  post(url: string, body?: unknown, headers: Record<string, string> = {}): Promise<TestAnswer> {
    return this.mutate({ method: 'POST', url, headers, ...(body === undefined ? {} : { payload: body as object }) });
  }

  /** A request as it is given, with the CSRF token. */
  async mutate(options: InjectOptions): Promise<TestAnswer> {
    const { cookie, header } = this.#config.current.server.csrfprotection;
    if (!this.bearer && !this.cookies.has(cookie)) await this.get('/livez');
    const token = this.cookies.get(cookie);
    return this.request({
      ...options,
      headers: { ...(token && !this.bearer ? { [header]: token } : {}), ...options.headers },
    });
  }

  /** A GraphQL operation; the answer's `data` and `errors`. */
  async graphql(
    query: string,
    variables: object = {},
  ): Promise<TestAnswer & { readonly data: TestAnswer['body']; readonly errors: TestAnswer['body'] }> {
    const answer = await this.post('/graphql', { query, variables });
    return { ...answer, data: answer.body.data, errors: answer.body.errors };
  }

  async request(options: InjectOptions): Promise<TestAnswer> {
    const response = await this.#app.inject({
      remoteAddress: this.address,
      ...options,
      cookies: Object.fromEntries(this.cookies),
      headers: { ...(this.bearer ? { authorization: `Bearer ${this.bearer}` } : {}), ...options.headers },
    });
    for (const { name, value, maxAge, expires } of response.cookies) {
      const isGone = maxAge === 0 || (expires !== undefined && expires.getTime() <= Date.now());
      if (isGone) this.cookies.delete(name);
      else this.cookies.set(name, value);
    }
    const url = typeof options.url === 'string' ? options.url : '';
    const leaked = secretInAnswer(response.body);
    if (leaked) throw new Error(`the answer to ${url} contains the secret ${leaked}: ${response.body}`);
    const type = response.headers['content-type'] ?? '';
    return {
      url,
      status: response.statusCode,
      headers: response.headers,
      body: type.includes('json') && response.body !== '' ? response.json() : response.body,
    };
  }
}

/** The header with which other programs act as a client that is signed in. */
export function bearerOf({ cookies }: Pick<TestClient, 'cookies'>): { authorization: string } {
  return { authorization: `Bearer ${cookies.get('access_token')}` };
}

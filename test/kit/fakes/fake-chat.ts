import { HttpFake, type Answering, type FakeRequest } from './http-fake.ts';

/** A message as people see it in a channel. */
export interface PostedMessage {
  /** `bot`, or `webhook`. */
  readonly by: string;
  readonly channel: string;
  readonly text: string;
}

/**
 * Treatment of a message that the platform could post: `accept` and answer; `accept-and-cut`: post it without an answer;
 * `accept-with-page`, `accept-with-504`: post it, while something in between answers with a page of its own; `silent`: neither; `limit`,
 * `fail`: 429, 500.
 */
export type ChatBehaviour =
  | 'accept'
  | 'accept-and-cut'
  | 'accept-with-page'
  | 'accept-with-504'
  | 'silent'
  | 'limit'
  | 'fail';

/** A chat platform over HTTP: a bot posts with `chat.postMessage`, and an incoming webhook has the path /hook/secret. */
export class FakeChat {
  readonly token = 'token-of-the-bot';
  readonly channel = 'C0OPERATORS';
  readonly posted: PostedMessage[] = [];
  /** Behaviours of the next messages, before all are accepted again. */
  readonly next: ChatBehaviour[] = [];
  #http: HttpFake | undefined;

  static async start(): Promise<FakeChat> {
    const fake = new FakeChat();
    fake.#http = await HttpFake.start((request) => fake.#answer(request));
    return fake;
  }

  get url(): string {
    return this.#http?.url ?? '';
  }

  get webhookUrl(): string {
    return `${this.url}/hook/secret-of-the-webhook`;
  }

  get requests(): readonly FakeRequest[] {
    return this.#http?.requests ?? [];
  }

  async close(): Promise<void> {
    await this.#http?.close();
  }

  #answer({ method, path, headers, body }: FakeRequest): Answering {
    const { channel, text } = JSON.parse(body) as { readonly channel?: string; readonly text: string };
    if (method === 'POST' && path === '/hook/secret-of-the-webhook')
      return this.#post({ by: 'webhook', channel: this.channel, text }, { status: 200, body: null, text: 'ok' });
    if (path.startsWith('/hook/')) return { status: 403, body: null, text: 'invalid_token' };
    if (method !== 'POST' || path !== '/chat.postMessage') return { status: 404, body: null, text: 'not found' };
    const refused = (error: string): Answering => ({ status: 200, body: { ok: false, error } });
    if (headers.authorization !== `Bearer ${this.token}`) return refused('invalid_auth');
    if (channel !== this.channel) return refused('channel_not_found');
    return this.#post({ by: 'bot', channel, text }, { status: 200, body: { ok: true, channel, ts: '1.1' } });
  }

  #post(message: PostedMessage, answer: Answering): Answering {
    const behaviour = this.next.shift() ?? 'accept';
    if (behaviour === 'limit')
      return { status: 429, body: { ok: false, error: 'ratelimited' }, headers: { 'retry-after': '1' } };
    if (behaviour === 'fail') return { status: 500, body: { ok: false, error: 'internal_error' } };
    if (behaviour === 'silent') return 'silent';
    this.posted.push(message);
    if (behaviour === 'accept-with-page') return { status: 200, body: null, text: '<html>Welcome</html>' };
    if (behaviour === 'accept-with-504') return { status: 504, body: null, text: '<html>Gateway Timeout</html>' };
    return behaviour === 'accept' ? answer : 'cut';
  }
}

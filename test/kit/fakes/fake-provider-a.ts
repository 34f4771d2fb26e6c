import { randomUUID } from 'node:crypto';
import { HttpFake, type Answering, type FakeAnswer, type FakeRequest } from './http-fake.ts';

/** A mail as mail provider A is given it. */
export interface MailOfA {
  readonly from: string;
  readonly to: readonly string[];
  readonly subject: string;
  readonly html: string;
  readonly text: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly tags?: readonly { readonly name: string; readonly value: string }[];
}

interface Accepted extends MailOfA {
  readonly id: string;
  readonly created_at: string;
}

/**
 * Treatment of a mail that the fake could accept: `accept` and answer; `accept-silently` or `accept-and-cut`: accept without an
 * answer; `accept-with-page`: accept, while something in between answers with a page of its own; `silent`: neither; `refuse`: refuse it for
 * its text; `limit`, `fail`: 429, 500.
 */
export type BehaviourOfA =
  | 'accept'
  | 'accept-silently'
  | 'accept-and-cut'
  | 'accept-with-page'
  | 'silent'
  | 'refuse'
  | 'limit'
  | 'fail';

/** Of something in between. */
export const foreignPage: FakeAnswer = { status: 200, body: null, text: '<html>Welcome</html>' };

const problem = (status: number, name: string, message: string): FakeAnswer => ({
  status,
  body: { statusCode: status, name, message },
  ...(status === 429 ? { headers: { 'retry-after': '1' } } : {}),
});

/** Mail provider A over HTTP: sending with idempotency keys, lists, suppressions. */
export class FakeProviderA {
  apiKey = 'key-of-a';
  behaviour: BehaviourOfA = 'accept';
  /** Behaviours of the next mails, before `behaviour` applies again. */
  readonly next: BehaviourOfA[] = [];
  /** The mails that recipients get, in the order in which they were accepted. */
  readonly accepted: Accepted[] = [];
  readonly suppressed = new Set<string>();
  readonly #keys = new Map<string, { readonly body: string; readonly answer: FakeAnswer }>();
  #http: HttpFake | undefined;

  static async start(): Promise<FakeProviderA> {
    const fake = new FakeProviderA();
    fake.#http = await HttpFake.start((request) => fake.#answer(request));
    return fake;
  }

  get url(): string {
    return this.#http?.url ?? '';
  }

  get requests(): readonly FakeRequest[] {
    return this.#http?.requests ?? [];
  }

  /** Bodies of all requests that were to send a mail. */
  get bodies(): string[] {
    return this.requests.filter(({ method, path }) => method === 'POST' && path === '/emails').map(({ body }) => body);
  }

  /** A day has passed, after which keys are forgotten. */
  forgetKeys(): void {
    this.#keys.clear();
  }

  async close(): Promise<void> {
    await this.#http?.close();
  }

  #answer(request: FakeRequest): Answering {
    const { method, path, query, headers } = request;
    if (headers.authorization !== `Bearer ${this.apiKey}`) return problem(401, 'invalid_api_key', 'API key is invalid');
    if (method === 'POST' && path === '/emails') return this.#send(request);
    if (method === 'GET' && path === '/emails') {
      const newest = this.accepted.toReversed();
      const from = query.get('after') === null ? 0 : newest.findIndex(({ id }) => id === query.get('after')) + 1;
      const data = newest.slice(from, from + Number(query.get('limit') ?? 20));
      const listed = data.map(({ id, to, subject, created_at }) => ({ id, to, subject, created_at }));
      return { status: 200, body: { object: 'list', has_more: from + data.length < newest.length, data: listed } };
    }
    const [, kind, id = ''] = /^\/(emails|suppressions)\/([^/]+)$/.exec(path) ?? [];
    if (method === 'GET' && kind === 'emails') {
      const found = this.accepted.find((mail) => mail.id === id);
      return found
        ? { status: 200, body: { object: 'email', ...found } }
        : problem(404, 'not_found', 'Email not found');
    }
    if (method === 'DELETE' && kind === 'suppressions') {
      const isKnown = this.suppressed.delete(decodeURIComponent(id));
      return isKnown ? { status: 200, body: { deleted: true } } : problem(404, 'not_found', 'Suppression not found');
    }
    return problem(404, 'not_found', 'The requested endpoint does not exist.');
  }

  /** Sends a mail once for each key, which a refusal takes as well. */
  #send({ body, headers }: FakeRequest): Answering {
    const key = headers['idempotency-key'];
    const known = typeof key === 'string' ? this.#keys.get(key) : undefined;
    if (known && known.body !== body)
      return problem(409, 'invalid_idempotent_request', 'Same idempotency key used with a different request payload.');
    const behaviour = this.next.shift() ?? this.behaviour;
    if (behaviour === 'limit') return problem(429, 'rate_limit_exceeded', 'Too many requests.');
    if (behaviour === 'fail') return problem(500, 'application_error', 'An unexpected error occurred.');
    if (behaviour === 'silent') return 'silent';
    if (known) return known.answer;
    const mail = JSON.parse(body) as MailOfA;
    const answer = this.#answerTo(mail, behaviour);
    if (typeof key === 'string') this.#keys.set(key, { body, answer });
    if (answer.status !== 200) return answer;
    if (behaviour === 'accept-silently') return 'silent';
    if (behaviour === 'accept-with-page') return foreignPage;
    return behaviour === 'accept-and-cut' ? 'cut' : answer;
  }

  #answerTo(mail: MailOfA, behaviour: BehaviourOfA): FakeAnswer {
    if (!isAddressed(mail)) return problem(422, 'validation_error', invalidTo);
    if (behaviour === 'refuse') return problem(422, 'validation_error', 'Invalid `html` field.');
    const id = randomUUID();
    this.accepted.push({ id, created_at: new Date().toISOString(), ...mail });
    return { status: 200, body: { id } };
  }
}

const invalidTo = 'Invalid `to` field. The email address needs to follow the format.';

function isAddressed({ to }: MailOfA): boolean {
  return to.every((address) => /^[^@\s]+@[^@\s]+\.[^@\s.]+$/.test(address) && !address.endsWith('@refused.example'));
}

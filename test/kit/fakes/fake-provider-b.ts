import { randomUUID } from 'node:crypto';
import { HttpFake, type Answering, type FakeAnswer, type FakeRequest } from './http-fake.ts';
import { foreignPage, type BehaviourOfA } from './fake-provider-a.ts';

/** A mail as mail provider B is given it. */
export interface MailOfB {
  readonly From: string;
  readonly To: string;
  readonly Subject: string;
  readonly HtmlBody: string;
  readonly TextBody: string;
  readonly Headers?: readonly { readonly Name: string; readonly Value: string }[];
  readonly MessageStream?: string;
  readonly TrackOpens?: boolean;
  readonly TrackLinks?: string;
  readonly Metadata?: Readonly<Record<string, string>>;
}

interface Accepted extends MailOfB {
  readonly MessageID: string;
}

const problem = (status: number, ErrorCode: number, Message: string): FakeAnswer => ({
  status,
  body: { ErrorCode, Message },
  ...(status === 429 ? { headers: { 'retry-after': '1' } } : {}),
});

/** Mail provider B over HTTP: sending without idempotency keys, search by metadata, suppressions. */
export class FakeProviderB {
  serverToken = 'token-of-b';
  behaviour: BehaviourOfA = 'accept';
  /** Behaviours of the next mails, before `behaviour` applies again. */
  readonly next: BehaviourOfA[] = [];
  /** The mails that recipients get, in the order in which they were accepted. */
  readonly accepted: Accepted[] = [];
  /** Addresses that it does not send to, by message stream. */
  readonly suppressed = new Map<string, Set<string>>();
  #http: HttpFake | undefined;

  static async start(): Promise<FakeProviderB> {
    const fake = new FakeProviderB();
    fake.#http = await HttpFake.start((request) => fake.#answer(request));
    return fake;
  }

  get url(): string {
    return this.#http?.url ?? '';
  }

  get requests(): readonly FakeRequest[] {
    return this.#http?.requests ?? [];
  }

  get bodies(): string[] {
    return this.requests.filter(({ path }) => path === '/email').map(({ body }) => body);
  }

  suppress(address: string, stream = 'outbound'): void {
    this.suppressed.set(stream, new Set([...(this.suppressed.get(stream) ?? []), address]));
  }

  async close(): Promise<void> {
    await this.#http?.close();
  }

  #answer({ method, path, query, headers, body }: FakeRequest): Answering {
    if (headers['x-postmark-server-token'] !== this.serverToken)
      return problem(401, 10, 'No Account or Server API tokens were supplied in the HTTP headers.');
    if (method === 'POST' && path === '/email') return this.#send(JSON.parse(body) as MailOfB);
    if (method === 'GET' && path === '/messages/outbound') {
      const wanted = [...query].filter(([name]) => name.startsWith('metadata_'));
      const found = this.accepted.filter(({ Metadata = {} }) =>
        wanted.every(([name, value]) => Metadata[name.slice('metadata_'.length)] === value),
      );
      const page = found.slice(0, Number(query.get('count')));
      return { status: 200, body: { TotalCount: found.length, Messages: page } };
    }
    const [, stream] = /^\/message-streams\/([^/]+)\/suppressions\/delete$/.exec(path) ?? [];
    if (method === 'POST' && stream !== undefined) {
      const { Suppressions } = JSON.parse(body) as { readonly Suppressions: readonly { EmailAddress: string }[] };
      const answers = Suppressions.map(({ EmailAddress }) => {
        this.suppressed.get(stream)?.delete(EmailAddress);
        return { EmailAddress, Status: 'Deleted', Message: null };
      });
      return { status: 200, body: { Suppressions: answers } };
    }
    return problem(404, 404, 'The requested resource does not exist.');
  }

  #send(mail: MailOfB): Answering {
    const behaviour = this.next.shift() ?? this.behaviour;
    if (behaviour === 'limit') return problem(429, 429, 'Rate limit exceeded.');
    if (behaviour === 'fail') return problem(500, 500, 'Internal Server Error');
    if (behaviour === 'silent') return 'silent';
    if (behaviour === 'refuse') return problem(422, 300, `Invalid 'HtmlBody' for ${mail.To}`);
    if (mail.To.endsWith('@refused.example')) return problem(422, 300, `Error parsing 'To': Illegal email address.`);
    if (this.suppressed.get(mail.MessageStream ?? 'outbound')?.has(mail.To))
      return problem(422, 406, 'You tried to send to recipient(s) that have been marked as inactive.');
    const MessageID = randomUUID();
    this.accepted.push({ MessageID, ...mail });
    if (behaviour === 'accept-silently') return 'silent';
    if (behaviour === 'accept-with-page') return foreignPage;
    if (behaviour === 'accept-and-cut') return 'cut';
    return {
      status: 200,
      body: { To: mail.To, SubmittedAt: new Date().toISOString(), MessageID, ErrorCode: 0, Message: 'OK' },
    };
  }
}

import { askProvider, type ProviderAnswer } from './provider-request.ts';
import { SendFailure, type EmailTransport, type OutgoingEmail } from './transport.ts';

interface Settings {
  readonly url: string;
  readonly apiKey: string;
  readonly timeoutMs: number;
}

export const idTag = 'email_id';

/** Pages of a hundred mails that are looked through for one whose outcome is not known. */
const maxPages = 50;

/** Mail provider A, over HTTP. It recognizes a repeated request by its Idempotency-Key for a day. */
export class ProviderA implements EmailTransport {
  readonly carrier = 'providera';
  readonly #settings: Settings;

  constructor(settings: Settings) {
    this.#settings = settings;
  }

  bodyOf({ id, from, to, subject, html, text, headers }: OutgoingEmail): string {
    return JSON.stringify({ from, to: [to], subject, html, text, headers, tags: [{ name: idTag, value: id }] });
  }

  async send({ id, round }: OutgoingEmail, body: string): Promise<string> {
    const key = round === undefined ? id : `${id}/${round}`;
    const answer = await this.#ask('POST', '/emails', { body, headers: { 'idempotency-key': key } });
    if (answer.status === 200 && typeof answer.body['id'] === 'string') return answer.body['id'];
    throw failureOf(answer);
  }

  /** Mails are listed without their tags, newest first, so those to the same address are looked at one by one. */
  async find({ id, to, subject }: OutgoingEmail, since: Date): Promise<string | undefined> {
    let after = '';
    for (let page = 0; page < maxPages; page++) {
      const answer = await this.#ask('GET', `/emails?limit=100${after}`);
      if (answer.status !== 200) throw failureOf(answer);
      const { data = [], has_more: hasMore = false } = answer.body as {
        readonly data?: readonly ListedEmail[];
        readonly has_more?: boolean;
      };
      for (const listed of data) {
        if (listed.subject !== subject || !listed.to.includes(to)) continue;
        const found = await this.#ask('GET', `/emails/${listed.id}`);
        if (found.status !== 200) throw failureOf(found);
        if (tagOf(found.body['tags'], idTag) === id) return listed.id;
      }
      const last = data.at(-1);
      // Clocks differ; a minute more costs nothing.
      if (!last || !hasMore || Date.parse(last.created_at) < since.getTime() - 60_000) return undefined;
      after = `&after=${last.id}`;
    }
    throw new SendFailure('unknown', `The provider has more than ${maxPages * 100} mails since the attempt.`);
  }

  async release(address: string): Promise<void> {
    const answer = await this.#ask('DELETE', `/suppressions/${encodeURIComponent(address)}`);
    // It was not suppressed there.
    if (answer.status !== 200 && answer.status !== 404) throw failureOf(answer);
  }

  #ask(
    method: 'GET' | 'POST' | 'DELETE',
    path: string,
    more: { body?: string; headers?: Record<string, string> } = {},
  ) {
    const { url, apiKey, timeoutMs } = this.#settings;
    return askProvider({
      method,
      url: `${url}${path}`,
      timeoutMs,
      ...(more.body === undefined ? {} : { body: more.body }),
      headers: { authorization: `Bearer ${apiKey}`, 'content-type': 'application/json', ...more.headers },
    });
  }
}

interface ListedEmail {
  readonly id: string;
  readonly to: readonly string[];
  readonly subject: string;
  readonly created_at: string;
}

/** The value of a tag; the provider writes tags as a list of names and values, or as an object. */
export function tagOf(tags: unknown, name: string): string | undefined {
  if (Array.isArray(tags)) {
    const found = (tags as readonly { readonly name?: unknown; readonly value?: unknown }[]).find(
      (tag) => tag.name === name,
    );
    return typeof found?.value === 'string' ? found.value : undefined;
  }
  const value = typeof tags === 'object' && tags !== null ? (tags as Record<string, unknown>)[name] : undefined;
  return typeof value === 'string' ? value : undefined;
}

function failureOf({ status, body, retryAfterMs }: ProviderAnswer): SendFailure {
  const message = typeof body['message'] === 'string' ? body['message'] : `The provider answered ${status}.`;
  if (status === 429) return new SendFailure('limited', message, { retryAfterMs });
  if (status === 401 || status === 403) return new SendFailure('credentials', message);
  // It has seen this key before: the first request with it is still at work, or had another text.
  if (status === 409) return new SendFailure('unknown', message);
  // It has not said which mail it has accepted, if it has.
  if (status < 400) return new SendFailure('unknown', message);
  return new SendFailure(/`to`/.test(message) ? 'address' : 'content', message, { code: String(status) });
}

import { askProvider, type ProviderAnswer } from './provider-request.ts';
import { SendFailure, type EmailTransport, type OutgoingEmail } from './transport.ts';

interface Settings {
  readonly url: string;
  readonly serverToken: string;
  readonly messageStream: string;
  readonly trackOpens: boolean;
  readonly trackLinks: string;
  readonly timeoutMs: number;
}

export const idMetadata = 'email_id';

/** Codes of errors with which an operator has to do: sender, account, credits, message stream. */
const operatorErrors: ReadonlySet<unknown> = new Set([10, 400, 401, 402, 405, 412, 413, 1_226, 1_235]);

const inactiveRecipient = 406;
const invalidRequest = 300;

/** Mail provider B, over HTTP. It does not recognize a repeated request, and finds mails by their metadata. */
export class ProviderB implements EmailTransport {
  readonly carrier = 'providerb';
  readonly #settings: Settings;

  constructor(settings: Settings) {
    this.#settings = settings;
  }

  bodyOf({ id, from, to, subject, html, text, headers, isTrackable }: OutgoingEmail): string {
    const { messageStream, trackOpens, trackLinks } = this.#settings;
    return JSON.stringify({
      From: from,
      To: to,
      Subject: subject,
      HtmlBody: html,
      TextBody: text,
      Headers: Object.entries(headers).map(([Name, Value]) => ({ Name, Value })),
      MessageStream: messageStream,
      TrackOpens: isTrackable && trackOpens,
      TrackLinks: isTrackable ? trackLinks : 'None',
      Metadata: { [idMetadata]: id },
    });
  }

  async send(_email: OutgoingEmail, body: string): Promise<string> {
    const answer = await this.#ask('POST', '/email', body);
    const { ErrorCode, MessageID } = answer.body;
    if (answer.status === 200 && ErrorCode === 0 && typeof MessageID === 'string') return MessageID;
    throw failureOf(answer);
  }

  async find({ id }: OutgoingEmail): Promise<string | undefined> {
    const answer = await this.#ask('GET', `/messages/outbound?count=1&offset=0&metadata_${idMetadata}=${id}`);
    if (answer.status !== 200) throw failureOf(answer);
    const [found] = (answer.body['Messages'] ?? []) as readonly { readonly MessageID?: string }[];
    return found?.MessageID;
  }

  async release(address: string): Promise<void> {
    const stream = encodeURIComponent(this.#settings.messageStream);
    const body = JSON.stringify({ Suppressions: [{ EmailAddress: address }] });
    const answer = await this.#ask('POST', `/message-streams/${stream}/suppressions/delete`, body);
    if (answer.status !== 200) throw failureOf(answer);
  }

  #ask(method: 'GET' | 'POST', path: string, body?: string) {
    const { url, serverToken, timeoutMs } = this.#settings;
    return askProvider({
      method,
      url: `${url}${path}`,
      timeoutMs,
      ...(body === undefined ? {} : { body }),
      headers: {
        'x-postmark-server-token': serverToken,
        accept: 'application/json',
        'content-type': 'application/json',
      },
    });
  }
}

function failureOf({ status, body, retryAfterMs }: ProviderAnswer): SendFailure {
  const code = body['ErrorCode'];
  const message = typeof body['Message'] === 'string' ? body['Message'] : `The provider answered ${status}.`;
  if (status === 429) return new SendFailure('limited', message, { retryAfterMs });
  if (status === 401 || status === 403 || operatorErrors.has(code)) return new SendFailure('credentials', message);
  // It says neither which mail it has accepted nor why not.
  if (status < 400 && (code === 0 || typeof code !== 'number')) return new SendFailure('unknown', message);
  const isAddress = code === inactiveRecipient || (code === invalidRequest && /'To'/.test(message));
  return new SendFailure(isAddress ? 'address' : 'content', message, {
    code: String(typeof code === 'number' ? code : status),
  });
}

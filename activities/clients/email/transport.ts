/** Carrier of mails; the kinds of `entities/email` name them the same. */
export type EmailCarrier = 'folder' | 'providera' | 'providerb';

/** A mail to one recipient, as every provider is given it. */
export interface OutgoingEmail {
  /** Id of the record of the mail: the idempotency key, and in the metadata of the provider. */
  readonly id: string;
  /** Attempts before it was rendered anew, after a refusal of its content. It has an idempotency key of its own then. */
  readonly round?: number;
  readonly from: string;
  readonly to: string;
  readonly subject: string;
  readonly text: string;
  readonly html: string;
  /** Further headers, such as List-Unsubscribe. */
  readonly headers: Readonly<Record<string, string>>;
  /** Whether the provider may track when it is opened and which links are followed: never where a link has a token. */
  readonly isTrackable: boolean;
}

/** A way to send mails. */
export interface EmailTransport {
  readonly carrier: EmailCarrier;
  /** The request that sends a mail. It is kept and sent unchanged at each attempt, whatever the configuration says by then. */
  bodyOf(email: OutgoingEmail): string;
  /** @returns the id at the provider, which has accepted the mail @throws SendFailure */
  send(email: OutgoingEmail, body: string): Promise<string>;
  /**
   * The id of a mail that the provider has accepted before, found by `id` in its metadata; undefined when it has not.
   * @throws SendFailure when the provider cannot be asked
   */
  find(email: OutgoingEmail, since: Date): Promise<string | undefined>;
  /** Makes the provider send to an address again that it has suppressed. @throws SendFailure */
  release(address: string): Promise<void>;
}

/**
 * Why a mail was not sent:
 * `address`: the provider does not send to this address; `content`: it does not take this mail; `credentials`: it refuses the key, the
 * sender or the account, which an operator puts right; `limited`: too many requests; `unsent`: the request did not reach it;
 * `unknown`: it may have been accepted.
 */
export type SendFailureReason = 'address' | 'content' | 'credentials' | 'limited' | 'unsent' | 'unknown';

export class SendFailure extends Error {
  override readonly name = 'SendFailure';
  readonly reason: SendFailureReason;
  /** When the provider takes requests again, in milliseconds from now. */
  readonly retryAfterMs: number | undefined;
  /** Code of the provider. */
  readonly code: string | undefined;

  constructor(
    reason: SendFailureReason,
    message: string,
    options: { retryAfterMs?: number | undefined; code?: string | undefined; cause?: unknown } = {},
  ) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.reason = reason;
    this.retryAfterMs = options.retryAfterMs;
    this.code = options.code;
  }
}

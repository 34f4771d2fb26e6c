/**
 * Why the payment provider did not do what it was asked:
 * `unavailable`: it gave no answer, or says that it cannot at the moment; whether it has done it is not known. Try again later.
 * `refused`: it does not do it; a repetition would be refused as well.
 * `missing`: what was named does not exist.
 */
export type PaymentFailureReason = 'unavailable' | 'refused' | 'missing';

interface Details {
  readonly status?: number | undefined;
  readonly code?: string | undefined;
  readonly retryAfterMs?: number | undefined;
  readonly isReplayed?: boolean;
}

/** Failure of a request to the payment provider. Its message has no secret, and continues a sentence that begins with the provider. */
export class PaymentFailure extends Error {
  override readonly name = 'PaymentFailure';
  readonly reason: PaymentFailureReason;
  /** Status of the answer; undefined without one. */
  readonly status: number | undefined;
  /** Code of the provider, such as `card_declined`; the type of its error where it has none: `idempotency_error` for a key of another request. */
  readonly code: string | undefined;
  /** The pause that the provider asks for, in milliseconds. */
  readonly retryAfterMs: number | undefined;
  /** The key is used up: the provider repeats its recorded answer, or refuses another request under it, until it forgets the key. */
  readonly isReplayed: boolean;

  constructor(reason: PaymentFailureReason, message: string, details: Details = {}) {
    super(message);
    this.reason = reason;
    this.status = details.status;
    this.code = details.code;
    this.retryAfterMs = details.retryAfterMs;
    this.isReplayed = details.isReplayed ?? false;
  }
}

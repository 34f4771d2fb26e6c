import { neverConnected } from '#entities/kit/base/never-connected.ts';

/**
 * Reasons for which a provider does not do what it is asked. `unauthorized`: it refuses the credential, and a person has to connect again;
 * `forbidden`: the credential lacks a permission; `not_found`: what is asked for is not there; `rate_limited`; `unavailable`: no answer, or one
 * that says that it has failed; `invalid_answer`: an answer that its interface does not have; `cursor_expired`: the position is not valid any
 * more, and the pass begins again; `refused`: it refuses the request for another reason.
 */
export type ProviderErrorCode =
  | 'unauthorized'
  | 'forbidden'
  | 'not_found'
  | 'rate_limited'
  | 'unavailable'
  | 'invalid_answer'
  | 'cursor_expired'
  | 'refused';

/** A later attempt may succeed. */
const passingCodes: ReadonlySet<ProviderErrorCode> = new Set(['rate_limited', 'unavailable', 'invalid_answer']);

interface ProviderErrorOptions {
  readonly retryAfterMs?: number | undefined;
  readonly cause?: unknown;
}

/** An error of a provider. Its message is a sentence for people that says what to do; it repeats neither credentials nor bodies of answers. */
export class ProviderError extends Error {
  override readonly name = 'ProviderError';
  readonly code: ProviderErrorCode;
  /** Pause that the provider asks for, in milliseconds. */
  readonly retryAfterMs: number | undefined;

  constructor(code: ProviderErrorCode, message: string, { retryAfterMs, cause }: ProviderErrorOptions = {}) {
    super(message, { cause });
    this.code = code;
    this.retryAfterMs = retryAfterMs;
  }

  get isPassing(): boolean {
    return passingCodes.has(this.code);
  }

  /** Whether a request that failed for a passing reason has done nothing for certain: the provider says so, or has not seen it. */
  get isUndone(): boolean {
    const { code, cause } = this;
    return code === 'rate_limited' || (code === 'unavailable' && (cause === undefined || neverConnected(cause)));
  }
}

import { Stripe } from 'stripe';
import { retryAfterMs } from '#entities/kit/base/retry-after.ts';
import { shortened } from '#entities/kit/base/shortened.ts';
import { PaymentFailure, type PaymentFailureReason } from './payment-failure.ts';

/** Statuses of answers after which the same request may succeed; 409: another one with this key, or for this record, is under way. */
const temporary: ReadonlySet<number> = new Set([409, 424, 429]);

/** Maximum length of what is repeated from an answer. */
const maxText = 300;

/** Secrets that an answer may repeat. */
const secrets = /\b(?:sk|rk|pk|whsec|cs|bps)_[\w*]+/g;

/**
 * Makes a request with the package.
 * @throws PaymentFailure instead of the errors of the package, which contain the whole answer
 */
export async function asked<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof Stripe.errors.StripeError) throw failureOf(error);
    throw error;
  }
}

/**
 * An answer that is what was asked for. A server in the place of the provider may send other JSON with a
 * status of success.
 * @throws PaymentFailure
 */
export function known<T extends { readonly object: string }>(answer: T, object: T['object']): T {
  if ((answer as { readonly object?: unknown } | undefined)?.object === object) return answer;
  throw new PaymentFailure('unavailable', `gave an answer that is no ${object}`);
}

function failureOf(error: Stripe.errors.StripeError): PaymentFailure {
  const { statusCode: status, headers = {} } = error;
  const code = error.code ?? error.rawType;
  const said = clean(`${code === undefined ? '' : `${code}: `}${error.message}`);
  return new PaymentFailure(
    reasonOf(error),
    status === undefined ? `gave no answer that can be read: ${said}` : `answers ${status} ${said}`,
    {
      status,
      code,
      retryAfterMs: retryAfterMs(headers['retry-after'], new Date(Date.now())),
      isReplayed: headers['idempotent-replayed'] === 'true' || code === 'idempotency_error',
    },
  );
}

function reasonOf({ statusCode: status, code, type }: Stripe.errors.StripeError): PaymentFailureReason {
  // The package calls a page, or half of an answer, an error of the API, whatever its status is.
  if (status === undefined || status < 400 || status >= 500 || temporary.has(status) || type === 'StripeAPIError')
    return 'unavailable';
  return status === 404 && code === 'resource_missing' ? 'missing' : 'refused';
}

function clean(text: string): string {
  return shortened(text.replaceAll(secrets, '…').replaceAll(/[\p{Cc}\p{Cf}]+/gu, ' '), maxText);
}

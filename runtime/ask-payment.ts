import { PaymentFailure } from '#activities/clients/payment/payment-failure.ts';
import type { PaymentProvider } from '#activities/clients/payment/payment-provider.ts';
import { billingDisabled, paymentUnavailable } from '#entities/billing/payment-errors.ts';
import { AppError } from '#entities/kit/base/errors.ts';

type Payment = () => PaymentProvider | undefined;

/**
 * The payment provider, for people and operators who wait for its answer. Nobody may wait within a transaction.
 * @param payment undefined while billing is off
 * @throws AppError billing_disabled, payment_unavailable, payment_refused
 */
export async function askPayment<T>(payment: Payment, ask: (provider: PaymentProvider) => Promise<T>): Promise<T> {
  const provider = payment();
  if (!provider) throw billingDisabled();
  try {
    return await ask(provider);
  } catch (error) {
    throw error instanceof PaymentFailure ? asAppError(error) : error;
  }
}

/**
 * Has the provider create something under a key. It repeats a recorded failure for a key, so the next key is used then.
 * @param nextKey makes the next key, and keeps it
 * @throws AppError as `askPayment`
 */
export function askUnderKey<T>(
  payment: Payment,
  { key, nextKey }: { readonly key: string; readonly nextKey: () => Promise<string> },
  ask: (provider: PaymentProvider, key: string) => Promise<T>,
): Promise<T> {
  return askPayment(payment, async (provider) => {
    try {
      return await ask(provider, key);
    } catch (error) {
      if (!(error instanceof PaymentFailure) || !error.isReplayed) throw error;
      return ask(provider, await nextKey());
    }
  });
}

function asAppError(failure: PaymentFailure): AppError {
  const { reason, retryAfterMs } = failure;
  if (reason !== 'unavailable')
    return new AppError('payment_refused', 'The payment provider has refused this; nothing was changed.', {
      cause: failure,
    });
  const pauseS = retryAfterMs === undefined ? undefined : Math.max(1, Math.ceil(retryAfterMs / 1_000));
  return paymentUnavailable('The payment provider cannot be reached at the moment; try again later.', pauseS, failure);
}

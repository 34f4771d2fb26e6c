import { ApplicationFailure } from '@temporalio/common';
import { PaymentFailure } from '../clients/payment/payment-failure.ts';

/**
 * Runs an activity that asks the payment provider. It is repeated when the provider fails, after the pause that the provider names.
 * @throws ApplicationFailure
 */
export async function retriedAsAsked<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof PaymentFailure)) throw error;
    const { message, reason, retryAfterMs = 0 } = error;
    throw ApplicationFailure.create({
      message: `The payment provider ${message}`,
      type: `payment_${reason}`,
      nonRetryable: false,
      ...(retryAfterMs > 0 ? { nextRetryDelay: Math.ceil(retryAfterMs) } : {}),
      cause: error,
    });
  }
}

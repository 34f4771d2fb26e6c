import { AppError } from '../kit/base/errors.ts';

/** Seconds until a request is worth another attempt, unless the provider says more. */
const defaultPauseS = 5;

/** The error while `subscription.enabled` is off. */
export function billingDisabled(): AppError {
  return new AppError('billing_disabled', 'Nobody pays in this installation: subscription.enabled is off.');
}

/** The error for what needs the payment provider. @param cause for operators */
export function paymentUnavailable(message: string, retryAfterSeconds = defaultPauseS, cause?: unknown): AppError {
  return new AppError('payment_unavailable', message, { details: { retryAfterSeconds }, cause });
}

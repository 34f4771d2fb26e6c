import { Stripe } from 'stripe';

/** How far the time of a signature may be from ours, in seconds. */
const toleranceS = 300;

/**
 * Whether an event was signed by the payment provider, less than five minutes ago by our clock. The package compares the signature; it
 * would accept one that was made in the future.
 * @param body as it was received
 * @param header `Stripe-Signature`
 */
export function hasPaymentSignature(
  body: Buffer | string,
  header: string | undefined,
  secret: string,
  now: Date,
): boolean {
  const times = [...(header ?? '').matchAll(/(?:^|,)t=(\d{1,12})(?=,|$)/g)].map(([, time]) => Number(time));
  if (header === undefined || secret === '' || times.length !== 1) return false;
  if (Math.abs(now.getTime() / 1_000 - (times[0] ?? 0)) > toleranceS) return false;
  try {
    return Stripe.webhooks.signature?.verifyHeader(body, header, secret, toleranceS, undefined, now.getTime()) ?? false;
  } catch {
    return false; // The package has no other answer to a wrong signature.
  }
}

import { paymentKeyMode } from '#config/objects/payment-key.ts';
import { paymentEventTypes } from '#entities/billing/payment-event-types.ts';
import type { Config } from '#config/objects/root.ts';

/** Settings of payments that an operator should know of when the server starts, one line each. */
export function paymentWarnings({ subscription, ormconfig }: Pick<Config, 'subscription' | 'ormconfig'>): string[] {
  if (!subscription.enabled) return [];
  const { privatepaymentkey, paymentwebhooksecret, paymentwebhooksecrets, paymentwebhookevents } = subscription;
  const known: readonly string[] = paymentEventTypes;
  return [
    ...(paymentKeyMode(privatepaymentkey) === 'test' && !ormconfig.modules.usesandbox
      ? [
          'subscription.privatepaymentkey is a test key, and ormconfig.modules.usesandbox is off: the live catalog names prices that the sandbox of the payment provider does not sell',
        ]
      : []),
    ...(paymentwebhooksecret === '' && Object.keys(paymentwebhooksecrets).length === 0
      ? [
          'subscription.paymentwebhooksecret and subscription.paymentwebhooksecrets are empty: events of the payment provider are refused, and only the hourly and daily sweeps find changes',
        ]
      : []),
    ...paymentwebhookevents
      .filter((type) => !known.includes(type))
      .map(
        (type) =>
          `subscription.paymentwebhookevents names ${type}, a type that this release does not know: its events only cause the customer to be read`,
      ),
  ];
}

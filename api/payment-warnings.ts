import { paymentKeyMode } from '#config/objects/payment-key.ts';
import type { Config } from '#config/objects/root.ts';

/** Settings of payments that an operator should know of when the server starts, one line each. */
export function paymentWarnings({ subscription, ormconfig }: Pick<Config, 'subscription' | 'ormconfig'>): string[] {
  if (!subscription.enabled) return [];
  const isTestKeyWithLiveCatalog =
    paymentKeyMode(subscription.privatepaymentkey) === 'test' && !ormconfig.modules.usesandbox;
  return isTestKeyWithLiveCatalog
    ? [
        'subscription.privatepaymentkey is a test key, and ormconfig.modules.usesandbox is off: the live catalog names prices that the sandbox of the payment provider does not sell',
      ]
    : [];
}

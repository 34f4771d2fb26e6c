import type { Config } from '#config/objects/root.ts';
import type { PaymentProvider } from './payment-provider.ts';
import { StripeProvider } from './stripe-provider.ts';

/** Where the payment provider is, for tests and development; used only while `server.dev` is on. */
export interface PaymentProviderSettings {
  readonly url?: string;
  /** Maximum duration of one request, in milliseconds. */
  readonly timeoutMs?: number;
}

/**
 * The payment provider of the current configuration (`subscription`), which may change while the process runs.
 * @returns a function that gives it; undefined while `subscription.enabled` is off
 */
export function configuredPayment(
  config: { readonly current: Pick<Config, 'server' | 'subscription'> },
  settings: PaymentProviderSettings,
): () => PaymentProvider | undefined {
  let last: { readonly key: string; readonly provider: PaymentProvider } | undefined;
  return () => {
    const { server, subscription } = config.current;
    if (!subscription.enabled) return undefined;
    const key = subscription.privatepaymentkey;
    if (last?.key !== key) {
      const url = server.dev ? settings.url : undefined;
      last = { key, provider: new StripeProvider({ key, url, timeoutMs: settings.timeoutMs }) };
    }
    return last.provider;
  };
}

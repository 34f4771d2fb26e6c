import type { Config } from '#config/objects/root.ts';
import type { ManagedProcessOptions } from './managed-process.ts';

/** The settings of the developer. */
interface OwnSettings {
  has(path: string): boolean;
  flag(path: string): boolean | undefined;
}

/** Whether `npm start` starts a payment provider of its own: billing is on, and there is no key of an account. */
export function needsLocalPayment(personal: OwnSettings): boolean {
  return personal.flag('subscription.enabled') === true && !personal.has('subscription.privatepaymentkey');
}

/**
 * Settings with which the product uses the local payment provider, by path.
 * @param url of its pages and its API
 * @param apiUrl to which it sends its events, whatever the domain
 */
export function localPaymentSettings(
  url: string,
  apiUrl: string,
  personal: Pick<OwnSettings, 'has'>,
): Readonly<Record<string, string>> {
  // With a domain, the console of that domain is where browsers return. Else a page of the provider stands for it.
  const page = `${url}/plan`;
  return {
    'ormconfig.modules.usesandbox': 'true',
    'subscription.privatepaymentkey': 'sk_test_local',
    'subscription.paymentwebhooksecret': 'whsec_local',
    'subscription.paymentwebhookurl': `${apiUrl}/v1/payment/webhook`,
    ...(personal.has('domain')
      ? {}
      : { 'subscription.paymentbillingportalsuccessurl': page, 'subscription.paymentcancellationreturnurl': page }),
  };
}

/** The process of the local payment provider, which sends its events to the API. */
export function localPayment(
  { subscription }: Pick<Config, 'subscription'>,
  apiUrl: string,
  port: number,
  environment: Readonly<Record<string, string>>,
): Pick<ManagedProcessOptions, 'name' | 'program' | 'args' | 'environment'> {
  const {
    privatepaymentkey,
    paymentwebhookapiversion: version,
    paymentwebhooksecrets,
    paymentwebhooksecret,
  } = subscription;
  return {
    name: 'payment',
    program: 'test/kit/fakes/fake-payment-main.ts',
    args: ['--port', String(port), '--api', apiUrl, '--version', version],
    environment: {
      ...environment,
      FAKE_PAYMENT_KEY: privatepaymentkey,
      FAKE_PAYMENT_SECRET: paymentwebhooksecrets[version] ?? paymentwebhooksecret,
    },
  };
}

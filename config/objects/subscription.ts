import { flag, list, map, object, secret, text } from '../schema/field.ts';
import { httpUrl, shortName } from '../schema/format.ts';

const billingPage = (domain: string): string => `https://console.${domain}/organization-settings/billing`;

/** `subscription`. */
export const subscription = object('Billing and entitlements through the payment provider.', {
  enabled: flag({
    description:
      'Creates customers and subscriptions at the payment provider and receives its events. New organizations begin with a trial of 30 days. When off, organizations have the product modules that an operator has granted, and none is asked to pay.',
  }),
  privatepaymentkey: secret({ description: 'Secret API key of the payment provider. Required while enabled.' }),
  paymentwebhooksecret: secret({
    description: 'Signing secret of events whose API version is not in paymentwebhooksecrets (legacy).',
  }),
  paymentwebhooksecrets: map({
    description: 'Signing secrets of events by API version. The version must match exactly.',
    keyLabel: 'API version',
    keyFormat: shortName,
    values: secret({ description: 'Signing secret of events of this API version.', required: true }),
  }),
  paymentwebhookurl: text({
    description: 'URL of the receiver that is registered with the payment provider for its events.',
    format: httpUrl,
    fromDomain: (domain) => `https://api.${domain}/v1/payment/webhook`,
  }),
  paymentbillingportalsuccessurl: text({
    description:
      'URL of the page on which people see the plan of their organization. The billing portal redirects the browser to it, and refusals for want of a module, a payment method or a subscription name it. Required while enabled.',
    format: httpUrl,
    fromDomain: billingPage,
  }),
  paymentcancellationreturnurl: text({
    description: 'URL to which the browser is redirected from a checkout that was not paid. Required while enabled.',
    format: httpUrl,
    fromDomain: billingPage,
  }),
  paymentwebhookevents: list({
    description:
      'Types of events that the server subscribes to and handles. When empty, it handles all types that it knows.',
    items: text({ description: 'Name of an event type.', maxLength: 200 }),
  }),
  paymentwebhookapiversion: text({
    description:
      'API version whose events are accepted. When empty, events of every version with a secret are accepted.',
    maxLength: 100,
  }),
  paymentwebhookdiscardapiversion: text({
    description:
      'API version whose events are acknowledged and discarded, during a migration to another version. Must differ from paymentwebhookapiversion.',
    maxLength: 100,
  }),
});

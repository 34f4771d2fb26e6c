import { flag, list, map, object, secret, text } from '../schema/field.ts';
import { httpUrl, shortName } from '../schema/format.ts';

const billingPage = (domain: string): string => `https://console.${domain}/organization-settings/billing`;

/** `subscription` (specification: Entitlements; Versioning 2). */
export const subscription = object('Billing and entitlements through the payment provider.', {
  enabled: flag({
    description: 'Creates customers and subscriptions, and receives the webhooks of the payment provider.',
  }),
  privatepaymentkey: secret({ description: 'Key for the payment provider. Required while enabled.' }),
  paymentwebhooksecret: secret({
    description: 'Signing secret of webhooks of versions that paymentwebhooksecrets does not name (legacy).',
  }),
  paymentwebhooksecrets: map({
    description: 'Signing secrets of webhooks by API version, looked up by exact spelling.',
    keyLabel: 'API version',
    keyFormat: shortName,
    values: secret({ description: 'Signing secret of this version.', required: true }),
  }),
  paymentwebhookurl: text({
    description: 'URL that the payment provider calls, used when the webhook is registered.',
    format: httpUrl,
    fromDomain: (domain) => `https://api.${domain}/v1/payment/webhook`,
  }),
  paymentbillingportalsuccessurl: text({
    description: 'Where the billing portal sends the browser afterwards.',
    format: httpUrl,
    fromDomain: billingPage,
  }),
  paymentcancellationreturnurl: text({
    description: 'Where the browser goes after a subscription was cancelled.',
    format: httpUrl,
    fromDomain: billingPage,
  }),
  paymentwebhookevents: list({
    description: 'Webhook event types subscribed to and acted on. Empty: all that the server understands.',
    items: text({ description: 'An event type.', maxLength: 200 }),
  }),
  paymentwebhookapiversion: text({
    description: 'API version that the webhook handler accepts. Empty: every version that has a secret.',
    maxLength: 100,
  }),
  paymentwebhookdiscardapiversion: text({
    description:
      'API version whose webhooks are acknowledged and discarded during a migration. Must differ from paymentwebhookapiversion.',
    maxLength: 100,
  }),
});

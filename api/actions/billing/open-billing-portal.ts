import { Type } from 'typebox';
import { askPayment } from '#runtime/ask-payment.ts';
import { billingOf, customerOf, existingCustomer, returnUrlOf } from '../../people/billed-organization.ts';
import { defineAction } from '../kit/define-action.ts';

export const openBillingPortal = defineAction({
  name: 'openBillingPortal',
  url: '/v1/billing/portal',
  tag: 'Billing',
  summary: 'Open the billing portal',
  description:
    'Opens a page of the payment provider on which an owner or super administrator changes payment methods and the subscription, and reads invoices. Afterwards, the page returns the browser to the page that the operator has configured.',
  acceptsSingleSignOn: true,
  answersCredential: true,
  answer: {
    url: Type.String({
      description: 'URL of the page. It is a secret: with it, anybody acts for the organization there.',
    }),
  },
  title: 'BillingPortalPage',
  status: 201,
  errors: ['permission_denied', 'rule_violated', 'billing_disabled', 'payment_unavailable', 'payment_refused'],
  outside: {
    prepare: async (asking) => ({
      customerId: customerOf(asking, await billingOf(asking, 'change')),
      returnUrl: returnUrlOf(asking.services.config.current.subscription),
    }),
    call: ({ payment }, { customerId, returnUrl }) =>
      askPayment(payment, (provider) => provider.openPortal(existingCustomer(customerId), returnUrl)),
  },
  run: (_asking, _input, url) => Promise.resolve({ url }),
});

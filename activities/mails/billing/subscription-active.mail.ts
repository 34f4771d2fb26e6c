import { organizationBilling } from '#entities/billing/organization-billing.ts';
import { on } from '#entities/kit/model/events.ts';
import { defineMail, sample } from '../define-mail.ts';
import { billedOrganization, billingAction, billingPage, payers } from './billing-mail.ts';

/** After a subscription had ended. */
export const subscriptionActiveMail = defineMail('subscription-active', {
  follows: [on(organizationBilling, 'reactivated')],
  audience: payers,
  priority: 3,
  about: organizationBilling,
  values: (context) => (context.record.isLapsed ? undefined : billedOrganization(context)),
  text: ({ name, url }) => ({
    subject: 'Your subscription is active again',
    paragraphs: [`The subscription of ${name} is active again, and so are its product modules and API tokens.`],
    ...billingAction('Review the subscription', url),
  }),
  sample: { name: sample.organization, url: billingPage },
});

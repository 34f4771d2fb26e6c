import { organizationBilling } from '#entities/billing/organization-billing.ts';
import { on } from '#entities/kit/model/events.ts';
import { defineMail, sample } from '../define-mail.ts';
import { billedOrganization, billingAction, billingPage, payers } from './billing-mail.ts';

export const subscriptionEndedMail = defineMail('subscription-ended', {
  follows: [on(organizationBilling, 'lapsed')],
  audience: payers,
  priority: 3,
  about: organizationBilling,
  values: (context) => (context.record.isLapsed ? billedOrganization(context) : undefined),
  text: ({ name, url }) => ({
    subject: 'Your subscription has ended',
    paragraphs: [
      `${name} has no subscription any more. Its product modules, integrations and API tokens do not work.`,
      'Nothing was deleted: with a new subscription, all of it works again.',
    ],
    ...billingAction('Choose a plan', url),
  }),
  sample: { name: sample.organization, url: billingPage },
});

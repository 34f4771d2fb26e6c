import { organizationBilling } from '#entities/billing/organization-billing.ts';
import { on } from '#entities/kit/model/events.ts';
import { defineMail, sample } from '../define-mail.ts';
import { billedOrganization, billingAction, billingPage, payers } from './billing-mail.ts';

/** Three days before the end of a trial. Nothing is sent when the organization pays by then. */
export const trialEndingMail = defineMail('trial-ending', {
  follows: [on(organizationBilling, 'trial_ending')],
  audience: payers,
  priority: 3,
  about: organizationBilling,
  values: async (context) => {
    const { record, unit, instant } = context;
    const { noticedTrialEnd, isLapsed } = record;
    if (noticedTrialEnd === null || noticedTrialEnd <= unit.clock.now() || isLapsed) return undefined;
    const place = await billedOrganization(context);
    return place && { ...place, until: await instant(noticedTrialEnd), isPaid: record.hasPaymentMethod };
  },
  text: ({ name, until, isPaid, url }) => ({
    subject: 'Your trial ends in three days',
    paragraphs: [
      `The trial of ${name} ends on ${until}.`,
      isPaid
        ? 'A payment method is stored, so the subscription continues and is charged from then on.'
        : 'Without a payment method, the subscription ends then: product modules, integrations and API tokens of the organization stop working. Nothing is deleted.',
    ],
    ...billingAction(isPaid ? 'Review the subscription' : 'Add a payment method', url),
  }),
  sample: { name: sample.organization, until: sample.until, isPaid: false, url: billingPage },
});

import { organizationBilling } from '#entities/billing/organization-billing.ts';
import { organizationSubscription } from '#entities/billing/organization-subscription.ts';
import { on } from '#entities/kit/model/events.ts';
import { defineMail, sample } from '../define-mail.ts';
import { billedOrganization, billingAction, billingPage, payers } from './billing-mail.ts';

/** The first failed payment of a period, while there is time to repair it. */
export const paymentFailedMail = defineMail('payment-failed', {
  follows: [on(organizationBilling, 'payment_failed')],
  audience: payers,
  priority: 3,
  about: organizationBilling,
  values: async (context) => {
    const { record, unit, instant } = context;
    const overdue = await unit.data.findOne(organizationSubscription, {
      organizationId: { eq: record.organizationId },
      status: { eq: 'past_due' },
      isActive: { eq: true },
    });
    // Paid meanwhile, or ended, which has a mail of its own.
    if (!overdue) return undefined;
    const place = await billedOrganization(context);
    return place && { ...place, next: overdue.nextAttemptAt && (await instant(overdue.nextAttemptAt)) };
  },
  text: ({ name, next, url }) => ({
    subject: 'A payment failed',
    paragraphs: [
      `The payment for the subscription of ${name} failed.`,
      next === null
        ? 'Check the payment method.'
        : `The next attempt is on ${next}. Check the payment method before then.`,
      'If all attempts fail, product modules, integrations and API tokens of the organization stop working. Nothing is deleted.',
    ],
    ...billingAction('Check the payment method', url),
  }),
  sample: { name: sample.organization, next: sample.until, url: billingPage },
});

import { organizationBilling } from '#entities/billing/organization-billing.ts';
import { on } from '#entities/kit/model/events.ts';
import { defineMail, sample } from '../define-mail.ts';
import { addressOfBilling, namedOrganization } from './billing-mail.ts';

/** It goes to the new address. */
export const billingEmailConfirmedMail = defineMail('billing-email-confirmed', {
  listener: 'mail-billing-email',
  follows: [on(organizationBilling, 'billing_email_changed')],
  audience: (occasion) => addressOfBilling(occasion, 'current'),
  priority: 3,
  about: organizationBilling,
  to: ({ billingEmail }) => billingEmail,
  values: namedOrganization,
  text: ({ name }) => ({
    subject: 'Invoices are sent to this address',
    paragraphs: [
      `Invoices of ${name} are sent to this address from now on.`,
      'If you do not know the organization, ignore this e-mail, or reply to our support.',
    ],
  }),
  sample: { name: sample.organization },
});

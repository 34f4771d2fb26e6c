import { organizationBilling } from '#entities/billing/organization-billing.ts';
import { on } from '#entities/kit/model/events.ts';
import { defineMail, sample } from '../define-mail.ts';
import { addressOfBilling, namedOrganization } from './billing-mail.ts';

/** It goes to the former address. */
export const billingEmailChangedMail = defineMail('billing-email-changed', {
  listener: 'mail-billing-email',
  follows: [on(organizationBilling, 'billing_email_changed')],
  audience: (occasion) => addressOfBilling(occasion, 'former'),
  priority: 3,
  about: organizationBilling,
  to: ({ formerBillingEmail }) => formerBillingEmail,
  values: namedOrganization,
  text: ({ name }) => ({
    subject: 'Invoices go to another address',
    paragraphs: [
      `The address for invoices of ${name} was changed. Invoices are no longer sent to this address.`,
      'If you did not expect this, contact the owners of the organization.',
    ],
  }),
  sample: { name: sample.organization },
});

import { organizationBilling } from '#entities/billing/organization-billing.ts';
import { on } from '#entities/kit/model/events.ts';
import type { UnitOfWork } from '#entities/kit/unit/unit-of-work.ts';
import { customEvent } from '#entities/kit/write/custom-events.ts';
import type { SendEmailInput } from '#workflows/email/send-email.contract.ts';
import { defineMail, sample } from '../define-mail.ts';
import { addressOfBilling, namedOrganization } from './billing-mail.ts';

type About = NonNullable<SendEmailInput['about']>;

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
  onSent: followNext,
  onUnsent: followNext,
});

/** The address may have changed again meanwhile: the next reading of the customer announces that. */
async function followNext({ id }: About, unit: UnitOfWork): Promise<void> {
  const held = await unit.data.findLocked(organizationBilling, id);
  if (!held || held.formerBillingEmail === null) return;
  await unit.data.update(organizationBilling, id, { formerBillingEmail: null });
  unit.emit(customEvent(organizationBilling, 'requested', held, { change: 'contact' }));
}

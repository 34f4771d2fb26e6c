import { delegation } from '#entities/identity/delegation.ts';
import { supportConsent } from '#entities/organizations/support-consent.ts';
import { defineListener, on } from '../listener.ts';
import { mailAboutRecord, mailPeopleInCharge } from '../people-in-charge.ts';

/** Notifies the owners that one of them has opened the organization to support. */
export const mailSupportConsent = defineListener('mail-support-consent', [on(supportConsent, 'created')], (delivery) =>
  mailPeopleInCharge(delivery, 'support-consent-given'),
);

/** Notifies the member as whom somebody acts; of support access, the owners of the organization. */
export const mailDelegation = defineListener('mail-delegation', [on(delegation, 'begun')], async (delivery) => {
  const { type, subjectId } = delivery.event.payload;
  if (type === 'support') await mailPeopleInCharge(delivery, 'support-access-begun');
  else mailAboutRecord(delivery, 'impersonation-begun', subjectId);
});

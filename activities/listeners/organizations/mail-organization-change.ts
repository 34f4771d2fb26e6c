import { identityProvider } from '#entities/organizations/identity-provider.ts';
import { membership } from '#entities/organizations/membership.ts';
import { defineListener, on } from '../listener.ts';
import { mailPeopleInCharge } from '../people-in-charge.ts';

export const mailNewOwner = defineListener('mail-new-owner', [on(membership, 'updated')], async (delivery) => {
  const { event, unit } = delivery;
  if (!event.payload.changed.includes('role')) return;
  const held = await unit.data.findOne(membership, { id: { eq: event.entityId } });
  if (held?.role === 'owner') await mailPeopleInCharge(delivery, 'new-owner');
});

/** Fields that decide which provider decides about the members. */
const providerFields: ReadonlySet<string> = new Set(['issuer', 'clientId', 'allowedDomains']);

export const mailSingleSignOnProvider = defineListener(
  'mail-single-sign-on-provider',
  [on(identityProvider, 'created'), on(identityProvider, 'updated')],
  async (delivery) => {
    if (delivery.event.payload.changed.some((field) => providerFields.has(field)))
      await mailPeopleInCharge(delivery, 'single-sign-on-provider');
  },
);

/** The record is gone, so the mail is about its organization. */
export const mailSingleSignOnRemoved = defineListener(
  'mail-single-sign-on-removed',
  [on(identityProvider, 'deleted')],
  async (delivery) => {
    const { organizationId } = delivery.event;
    if (organizationId !== null) await mailPeopleInCharge(delivery, 'single-sign-on-removed', organizationId);
  },
);

export const mailSingleSignOnEnforcement = defineListener(
  'mail-single-sign-on-enforcement',
  [on(identityProvider, 'updated')],
  async (delivery) => {
    if (delivery.event.payload.changed.includes('isEnforced'))
      await mailPeopleInCharge(delivery, 'single-sign-on-enforcement');
  },
);

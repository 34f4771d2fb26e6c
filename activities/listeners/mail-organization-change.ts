import { identityProvider } from '#entities/organizations/identity-provider.ts';
import { membership } from '#entities/organizations/membership.ts';
import { sendEmailContract } from '#workflows/email/send-email.contract.ts';
import { defineListener, on } from './listener.ts';
import { peopleInCharge } from './people-in-charge.ts';

export const mailNewOwner = defineListener(
  'mail-new-owner',
  [on(membership, 'updated')],
  async ({ event: { entityId, actor, payload }, unit: { data }, key, start }) => {
    const held = payload.changed.includes('role') && (await data.findOne(membership, { id: { eq: entityId } }));
    if (!held || held.role !== 'owner') return;
    for (const userId of await peopleInCharge(data, actor))
      start(sendEmailContract, {
        key: `${key}/${userId}`,
        template: 'new-owner',
        userId,
        about: { id: entityId, round: 1 },
      });
  },
);

export const mailSingleSignOnEnforcement = defineListener(
  'mail-single-sign-on-enforcement',
  [on(identityProvider, 'updated')],
  async ({ event: { entityId, actor, payload }, unit: { data }, key, start }) => {
    if (!payload.changed.includes('isEnforced')) return;
    for (const userId of await peopleInCharge(data, actor))
      start(sendEmailContract, {
        key: `${key}/${userId}`,
        template: 'single-sign-on-enforcement',
        userId,
        about: { id: entityId, round: 1 },
      });
  },
);

import { invite } from '#entities/organizations/invite.ts';
import { sendEmailContract } from '#workflows/email/send-email.contract.ts';
import { defineListener, on } from '../listener.ts';
import { isBeyondMailLimit } from '../email/mail-limit.ts';

/** Mails the link of an invitation. Anybody with an organization can invite any address, so the mails are limited; others stay pending. */
export const mailInvite = defineListener(
  'mail-invite',
  [on(invite, 'created'), on(invite, 'resent')],
  async ({ event, unit, key, start }) => {
    const held = await unit.data.findOne(invite, { id: { eq: event.entityId } });
    const round = 'round' in event.payload ? event.payload.round : 1;
    // Withdrawn or sent again since.
    if (held?.status !== 'pending' || held.round !== round) return;
    const { organizationId } = held;
    if (await isBeyondMailLimit(unit, 'invite', { email: held.recipient, organizationId })) return;
    start(sendEmailContract, { key, template: 'invite', organizationId, about: { id: held.id, round } });
  },
);

/** Notifies the inviter that the invited person has joined. */
export const mailInviteAccepted = defineListener(
  'mail-invite-accepted',
  [on(invite, 'accepted')],
  async ({ event, unit, key, start }) => {
    const held = await unit.data.findOne(invite, { id: { eq: event.entityId } });
    if (held?.inviterId == null) return;
    start(sendEmailContract, {
      key,
      template: 'invite-accepted',
      organizationId: held.organizationId,
      userId: held.inviterId,
      about: { id: held.id, round: held.round },
    });
  },
);

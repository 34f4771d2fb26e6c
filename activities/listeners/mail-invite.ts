import { createHash } from 'node:crypto';
import { takeAttempt } from '#entities/kit/access/sign-in-failures.ts';
import { invite } from '#entities/organizations/invite.ts';
import { sendEmailContract } from '#workflows/email/send-email.contract.ts';
import { defineListener, on } from './listener.ts';

const dayMs = 86_400_000;

/** Invitations that are mailed within a day to one address, whoever invites, and for one organization; others stay pending. */
const limits = { recipient: 10, organization: 500 } as const;

/** Mails the link of an invitation. Anybody with an organization can invite any address, so the mails are limited. */
export const mailInvite = defineListener(
  'mail-invite',
  [on(invite, 'created'), on(invite, 'resent')],
  async ({ event, unit, key, start }) => {
    const held = await unit.data.findOne(invite, { id: { eq: event.entityId } });
    const round = 'round' in event.payload ? event.payload.round : 1;
    // Withdrawn or sent again since.
    if (held?.status !== 'pending' || held.round !== round) return;
    const recipient = createHash('sha256').update(held.recipient).digest('hex');
    const counters = [
      { key: `invite-to:${recipient}`, limit: limits.recipient },
      { key: `invite-of:${held.organizationId}`, limit: limits.organization },
    ];
    if (await takeAttempt(unit, counters, dayMs)) return;
    const { organizationId } = held;
    start(sendEmailContract, { key, template: 'invite', organizationId, about: { id: held.id, round } });
  },
);

/** Tells whoever invited that the invited person has joined. */
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

import { createHash } from 'node:crypto';
import { takeAttempt } from '#entities/kit/access/sign-in-failures.ts';
import { subscriber } from '#entities/organizations/subscriber.ts';
import { sendEmailContract } from '#workflows/email/send-email.contract.ts';
import { defineListener, on } from './listener.ts';

const dayMs = 86_400_000;

/** Verification e-mails within a day to one address, whoever asks for them, and for one organization; the others are not sent. */
const limits = { recipient: 10, organization: 500 } as const;

/** Mails the link that verifies a subscriber. Anybody with an organization can enter any address, so the mails are limited. */
export const mailSubscriber = defineListener(
  'mail-subscriber',
  [on(subscriber, 'created'), on(subscriber, 'resent')],
  async ({ event, unit, key, start }) => {
    const held = await unit.data.findOne(subscriber, { id: { eq: event.entityId } });
    const round = 'round' in event.payload ? event.payload.round : 1;
    // Verified, ended or sent again since.
    if (!held || held.isEmailVerified || held.isUnsubscribed || held.round !== round) return;
    const recipient = createHash('sha256').update(held.email).digest('hex');
    const counters = [
      { key: `subscription-to:${recipient}`, limit: limits.recipient },
      { key: `subscription-of:${held.organizationId}`, limit: limits.organization },
    ];
    if (await takeAttempt(unit, counters, dayMs)) return;
    const { organizationId } = held;
    start(sendEmailContract, { key, template: 'verify-subscriber', organizationId, about: { id: held.id, round } });
  },
);

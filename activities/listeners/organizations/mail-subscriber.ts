import { subscriber } from '#entities/organizations/subscriber.ts';
import { sendEmailContract } from '#workflows/email/send-email.contract.ts';
import { defineListener, on } from '../listener.ts';
import { isBeyondMailLimit } from '../email/mail-limit.ts';

/** Mails the link that verifies a subscriber. Anybody with an organization can enter any address, so the mails are limited; the others are not sent. */
export const mailSubscriber = defineListener(
  'mail-subscriber',
  [on(subscriber, 'created'), on(subscriber, 'resent')],
  async ({ event, unit, key, start }) => {
    const held = await unit.data.findOne(subscriber, { id: { eq: event.entityId } });
    const round = 'round' in event.payload ? event.payload.round : 1;
    // Verified, ended or sent again since.
    if (!held || held.isEmailVerified || held.isUnsubscribed || held.round !== round) return;
    const { organizationId } = held;
    if (await isBeyondMailLimit(unit, 'subscription', { email: held.email, organizationId })) return;
    start(sendEmailContract, { key, template: 'verify-subscriber', organizationId, about: { id: held.id, round } });
  },
);

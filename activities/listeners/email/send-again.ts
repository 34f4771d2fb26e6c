import { email } from '#entities/email/email.ts';
import { sendEmailContract, type EmailTemplate } from '#workflows/email/send-email.contract.ts';
import { defineListener, on } from '../listener.ts';

/** Sends an e-mail again: a further one with a record of its own, which says what is true then. */
export const sendAgain = defineListener('send-again', [on(email, 'resent')], async ({ event, unit, key, start }) => {
  const held = await unit.data.findOne(email, { id: { eq: event.entityId } });
  if (!held) return;
  const { template, recipientId, aboutId, aboutRound, organizationId } = held;
  start(sendEmailContract, {
    key,
    // Written from this type.
    template: template as EmailTemplate,
    organizationId,
    ...(recipientId === null ? {} : { userId: recipientId }),
    ...(aboutId === null ? {} : { about: { id: aboutId, round: aboutRound ?? 1 } }),
  });
});

import { email } from '#entities/email/email.ts';
import { on } from '#entities/kit/model/events.ts';
import { sendEmailContract } from '#workflows/email/send-email.contract.ts';
import { carrierPriorities } from '#entities/notifications/carrier-priorities.ts';
import { mailNamed } from '../../mails/index.ts';
import { defineListener } from '../listener.ts';

/** Sends an e-mail again: a further one with a record of its own, which says what is true then. */
export const sendAgain = defineListener('send-again', [on(email, 'resent')], async ({ event, unit, key, start }) => {
  const held = await unit.data.findOne(email, { id: { eq: event.entityId } });
  if (!held) return;
  const { template, recipientId, aboutId, aboutRound, organizationId } = held;
  const priority = mailNamed(template)?.priority ?? carrierPriorities[template];
  start(sendEmailContract, {
    key,
    template,
    organizationId,
    ...(priority ? { priority } : {}),
    ...(recipientId === null ? {} : { userId: recipientId }),
    ...(aboutId === null ? {} : { about: { id: aboutId, round: aboutRound ?? 1 } }),
  });
});

import { emailVerification } from '#entities/identity/email-verification.ts';
import { sendEmailContract } from '#workflows/email/send-email.contract.ts';
import { defineListener, on } from './listener.ts';

export const mailVerification = defineListener(
  'mail-verification',
  [on(emailVerification, 'requested')],
  async ({ event, unit, key, start }) => {
    const verification = await unit.data.get(emailVerification, event.entityId);
    start(sendEmailContract, {
      key,
      template: 'verify-address',
      userId: verification.userId,
      about: { id: verification.id, round: event.payload.round },
    });
  },
);

import { sendEmailContract } from '#workflows/email/send-email.contract.ts';
import { defineListener } from './listener.ts';

/** The answer to a sign-up never tells that the address has an account; this mail tells its owner. */
export const mailRepeatedRegistration = defineListener(
  'mail-repeated-registration',
  ({ event, key, start, activityQueue }) => {
    start(sendEmailContract, {
      queue: activityQueue('email'),
      key,
      kind: 'registration-repeated',
      userId: event.entityId,
    });
  },
);

import { user } from '#entities/identity/user.ts';
import { sendEmailContract } from '#workflows/email/send-email.contract.ts';
import { defineListener, on } from '../listener.ts';

/** Time in which repeated registrations cause one mail, so that nobody can flood a mailbox. */
const intervalMs = 3_600_000;

/** The answer to a sign-up never reveals that the address has an account; this mail notifies its owner. */
export const mailRepeatedRegistration = defineListener(
  'mail-repeated-registration',
  [on(user, 'registration_repeated')],
  ({ event, start }) => {
    const hour = Math.floor(event.occurredAt.getTime() / intervalMs);
    start(sendEmailContract, {
      key: `${event.entityId}/registration-repeated/${hour}`,
      template: 'registration-repeated',
      userId: event.entityId,
    });
  },
);

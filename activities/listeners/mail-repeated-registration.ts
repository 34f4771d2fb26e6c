import { user } from '#entities/identity/user.ts';
import { sendEmailContract } from '#workflows/email/send-email.contract.ts';
import { defineListener, on } from './listener.ts';

/** Within this time all attempts share one mail, so that nobody can fill a mailbox with them. */
const sharedMs = 3_600_000;

/** The answer to a sign-up never tells that the address has an account; this mail tells its owner. */
export const mailRepeatedRegistration = defineListener(
  'mail-repeated-registration',
  [on(user, 'registration_repeated')],
  ({ event, start }) => {
    const hour = Math.floor(event.occurredAt.getTime() / sharedMs);
    start(sendEmailContract, {
      key: `${event.entityId}/registration-repeated/${hour}`,
      kind: 'registration-repeated',
      userId: event.entityId,
    });
  },
);

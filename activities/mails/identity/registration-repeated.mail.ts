import { user } from '#entities/identity/user.ts';
import { on } from '#entities/kit/model/events.ts';
import { defineMail } from '../define-mail.ts';

/** Time in which repeated registrations cause one mail, so that nobody can flood a mailbox. */
const intervalMs = 3_600_000;

/** The answer to a sign-up never reveals that the address has an account; this mail notifies its owner. */
export const registrationRepeatedMail = defineMail('registration-repeated', {
  listener: 'mail-repeated-registration',
  follows: [on(user, 'registration_repeated')],
  audience: ({ event: { entityId, occurredAt } }) => {
    const hour = Math.floor(occurredAt.getTime() / intervalMs);
    return [{ key: `${entityId}/registration-repeated/${hour}`, userId: entityId }];
  },
  priority: 3,
  text: {
    subject: 'You already have an account',
    paragraphs: [
      'Somebody tried to sign up with this address, which already has an account. If this was you, sign in instead. If not, ignore this e-mail: nothing has changed.',
    ],
  },
});

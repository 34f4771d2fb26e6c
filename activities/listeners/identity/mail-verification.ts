import { emailVerification } from '#entities/identity/email-verification.ts';
import { user } from '#entities/identity/user.ts';
import { customEvent } from '#entities/kit/write/custom-events.ts';
import { sendEmailContract } from '#workflows/email/send-email.contract.ts';
import { remindOfReactivation } from './mail-account-change.ts';
import { defineListener, on } from '../listener.ts';

/** Decides which mail a sign-up causes. The request does not, so that its duration does not reveal who has an account. */
export const mailVerification = defineListener(
  'mail-verification',
  [on(emailVerification, 'requested')],
  async (delivery) => {
    const { event, unit, key, start } = delivery;
    const { email, sentAt, ...verification } = await unit.data.get(emailVerification, event.entityId);
    const account = await unit.data.findOne(user, { email: { eq: email } });
    if (remindOfReactivation(account, delivery) || sentAt === null) return;
    if (!account?.emailConfirmedAt) {
      const about = { id: verification.id, round: event.payload.round };
      start(sendEmailContract, { key, template: 'verify-address', about });
    } else if (verification.round === 1) {
      unit.emit(customEvent(user, 'registration_repeated', account, {}));
    }
  },
);

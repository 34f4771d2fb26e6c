import { passwordReset } from '#entities/identity/password-reset.ts';
import { user } from '#entities/identity/user.ts';
import { sendEmailContract } from '#workflows/email/send-email.contract.ts';
import { remindOfReactivation } from './mail-account-change.ts';
import { defineListener, on } from '../listener.ts';

/** Decides whether a link is mailed. The request does not, so that its duration does not reveal who has an account. */
export const mailPasswordReset = defineListener(
  'mail-password-reset',
  [on(passwordReset, 'requested')],
  async (delivery) => {
    const { event, unit, key, start } = delivery;
    const { id, email, sentAt } = await unit.data.get(passwordReset, event.entityId);
    const account = await unit.data.findOne(user, { email: { eq: email } });
    if (remindOfReactivation(account, delivery) || sentAt === null) return;
    if (!account?.emailConfirmedAt || account.status !== 'active') return;
    start(sendEmailContract, { key, template: 'reset-password', userId: account.id, about: { id, round: 1 } });
  },
);

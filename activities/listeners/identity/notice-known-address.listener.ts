import { emailVerification } from '#entities/identity/email-verification.ts';
import { passwordReset } from '#entities/identity/password-reset.ts';
import { reactivationEnd, user } from '#entities/identity/user.ts';
import { on } from '#entities/kit/model/events.ts';
import { customEvent } from '#entities/kit/write/custom-events.ts';
import { sendEmailContract } from '#workflows/email/send-email.contract.ts';
import { accountDeactivatedMail } from '../../mails/identity/account-deactivated.mail.ts';
import { reactivationExpiredMail } from '../../mails/identity/reactivation-expired.mail.ts';
import { defineListener } from '../listener.ts';

/** Time in which requests for one account cause one mail, in milliseconds. */
const intervalMs = 60_000;

/**
 * Handles sign-ups and requests for a new password of an address that has an account. Its owner is notified by e-mail only, so that neither
 * answer nor duration of the request reveals the account. The owner of a deactivated account gets the reactivation link again, or after it
 * has expired, an e-mail that names the support.
 */
export const noticeKnownAddress = defineListener(
  'notice-known-address',
  [on(emailVerification, 'requested'), on(passwordReset, 'requested')],
  async ({ event: { topic, entityId, occurredAt }, unit, start }) => {
    const verification =
      topic === 'email_verification.requested' ? await unit.data.get(emailVerification, entityId) : undefined;
    const { email } = verification ?? (await unit.data.get(passwordReset, entityId));
    const account = await unit.data.findOne(user, { email: { eq: email } });
    if (account?.status === 'deactivated') {
      const { id, recordVersion: round } = account;
      const key = `${id}/reactivation/${Math.floor(occurredAt.getTime() / intervalMs)}`;
      const mail = reactivationEnd(account) <= unit.clock.now() ? reactivationExpiredMail : accountDeactivatedMail;
      start(sendEmailContract, { key, template: mail.name, userId: id, about: { id, round } });
    } else if (account?.emailConfirmedAt && verification?.round === 1 && verification.sentAt !== null) {
      unit.emit(customEvent(user, 'registration_repeated', account, {}));
    }
  },
);

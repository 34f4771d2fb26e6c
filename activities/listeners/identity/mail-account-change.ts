import { emailChange } from '#entities/identity/email-change.ts';
import { reactivationEnd, user } from '#entities/identity/user.ts';
import type { RowOf } from '#entities/kit/model/define.ts';
import { sendEmailContract } from '#workflows/email/send-email.contract.ts';
import { defineListener, on, type Delivery } from '../listener.ts';

/**
 * Decides whether a link is mailed to the address that somebody wants. The request does not, so that its duration does not reveal who has
 * an account. The address of before gets a notice in any case.
 */
export const mailEmailChange = defineListener(
  'mail-email-change',
  [on(emailChange, 'requested')],
  async ({ event, unit, key, start }) => {
    const { id, newEmail, sentAt } = await unit.data.get(emailChange, event.entityId);
    if (sentAt === null || newEmail === null) return;
    const about = { id, round: 1 };
    start(sendEmailContract, { key: `${key}/notice`, template: 'email-change-requested', about });
    const taken = await unit.data.findOne(user, { email: { eq: newEmail } });
    if (!taken) start(sendEmailContract, { key, template: 'confirm-email-change', about });
  },
);

export const mailEmailChanged = defineListener(
  'mail-email-changed',
  [on(emailChange, 'confirmed')],
  ({ event, key, start }) => {
    start(sendEmailContract, { key, template: 'email-changed', about: { id: event.entityId, round: 1 } });
  },
);

export const mailAccountDeleted = defineListener(
  'mail-account-deleted',
  [on(emailChange, 'account_deleted')],
  ({ event, key, start }) => {
    start(sendEmailContract, { key, template: 'account-deleted', about: { id: event.entityId, round: 1 } });
  },
);

/** The version of the user record at the deactivation is the round of the link. */
export const mailAccountDeactivated = defineListener(
  'mail-account-deactivated',
  [on(user, 'deactivated')],
  ({ event, key, start }) => {
    const { entityId: id, recordVersion: round } = event;
    start(sendEmailContract, { key, template: 'account-deactivated', userId: id, about: { id, round } });
  },
);

/** Time in which requests for one account cause one mail, in milliseconds. */
const intervalMs = 60_000;

/**
 * E-mails the reactivation link again to the owner of a deactivated account who tries to use it. After the link has expired, the e-mail
 * names the support instead. Only the e-mail reveals the deactivation.
 * @returns whether the account is deactivated
 */
export function remindOfReactivation(
  account: RowOf<typeof user> | undefined,
  { event: { occurredAt }, unit: { clock }, start }: Pick<Delivery<object>, 'event' | 'unit' | 'start'>,
): boolean {
  if (account?.status !== 'deactivated') return false;
  const { id, recordVersion: round } = account;
  const key = `${id}/reactivation/${Math.floor(occurredAt.getTime() / intervalMs)}`;
  const template = reactivationEnd(account) <= clock.now() ? 'reactivation-expired' : 'account-deactivated';
  start(sendEmailContract, { key, template, userId: id, about: { id, round } });
  return true;
}

export const mailAccountReactivated = defineListener(
  'mail-account-reactivated',
  [on(user, 'reactivated')],
  ({ event, key, start }) => {
    start(sendEmailContract, { key, template: 'account-reactivated', userId: event.entityId });
  },
);

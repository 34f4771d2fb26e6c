import { session } from '#entities/identity/session.ts';
import { user } from '#entities/identity/user.ts';
import { sendEmailContract } from '#workflows/email/send-email.contract.ts';
import { defineListener, on } from './listener.ts';

/** Tells people what happened to their account, so that they notice what was not done by them. */
export const mailPasswordChanged = defineListener(
  'mail-password-changed',
  [on(user, 'password_changed')],
  ({ event, key, start }) => {
    start(sendEmailContract, { key, template: 'password-changed', userId: event.entityId });
  },
);

export const mailCopiedSession = defineListener(
  'mail-copied-session',
  [on(session, 'refresh_token_reused')],
  ({ event, key, start }) => {
    start(sendEmailContract, { key, template: 'session-copied', userId: event.payload.userId });
  },
);

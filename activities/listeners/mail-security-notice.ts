import { createHash } from 'node:crypto';
import { secondFactor } from '#entities/identity/second-factor.ts';
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

/** Programs that sign in again and again from one address, and keep no cookies, cause one mail a day. */
const newDeviceIntervalMs = 86_400_000;

export const mailNewDevice = defineListener(
  'mail-new-device',
  [on(session, 'begun_on_new_device')],
  ({ event: { payload, occurredAt }, start }) => {
    const { userId, userAgent, address } = payload;
    const day = Math.floor(occurredAt.getTime() / newDeviceIntervalMs);
    const device = createHash('sha256').update(`${address} ${userAgent}`).digest('hex').slice(0, 16);
    start(sendEmailContract, {
      key: `${userId}/new-device/${device}/${day}`,
      template: 'new-device',
      userId,
      device: { userAgent, address, at: occurredAt.toISOString() },
    });
  },
);

export const mailCopiedSession = defineListener(
  'mail-copied-session',
  [on(session, 'refresh_token_reused')],
  ({ event, key, start }) => {
    start(sendEmailContract, { key, template: 'session-copied', userId: event.payload.userId });
  },
);

/** The mail of each event of a second factor. */
const factorMails = {
  confirmed: 'second-factor-confirmed',
  removed: 'second-factor-removed',
  recovery_code_used: 'recovery-code-used',
  recovery_codes_replaced: 'recovery-codes-replaced',
} as const;

type FactorVerb = keyof typeof factorMails;

export const mailSecondFactor = defineListener(
  'mail-second-factor',
  (Object.keys(factorMails) as FactorVerb[]).map((verb) => on(secondFactor, verb)),
  ({ event: { topic, payload }, key, start }) => {
    const verb = topic.slice(topic.indexOf('.') + 1) as FactorVerb;
    start(sendEmailContract, { key, template: factorMails[verb], userId: payload.userId });
  },
);

import { createHash } from 'node:crypto';
import { externalIdentity } from '#entities/identity/external-identity.ts';
import { secondFactor } from '#entities/identity/second-factor.ts';
import { passkey } from '#entities/identity/passkey.ts';
import { session } from '#entities/identity/session.ts';
import { user } from '#entities/identity/user.ts';
import { personIn } from '#entities/kit/model/caller.ts';
import { sendEmailContract } from '#workflows/email/send-email.contract.ts';
import { defineListener, on } from '../listener.ts';

/** Notifies people of changes of their account, so that they notice those that they did not make. */
export const mailPasswordChanged = defineListener(
  'mail-password-changed',
  [on(user, 'password_changed')],
  ({ event, key, start }) => {
    const template = event.payload.isReset ? 'password-set-by-link' : 'password-changed';
    start(sendEmailContract, { key, template, userId: event.entityId });
  },
);

/** Milliseconds in which what is repeated again and again, by programs that keep no cookies for example, causes one mail. */
const dayMs = 86_400_000;

export const mailNewDevice = defineListener(
  'mail-new-device',
  [on(session, 'begun_on_new_device')],
  ({ event: { payload, occurredAt }, start }) => {
    const { userId, userAgent, address } = payload;
    const day = Math.floor(occurredAt.getTime() / dayMs);
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

export const mailIdentityLinked = defineListener(
  'mail-identity-linked',
  [on(externalIdentity, 'linked')],
  ({ event, key, start }) => {
    start(sendEmailContract, { key, template: 'identity-linked', userId: event.payload.userId });
  },
);

export const mailIdentityUnlinked = defineListener(
  'mail-identity-unlinked',
  [on(externalIdentity, 'unlinked')],
  ({ event, key, start }) => {
    start(sendEmailContract, { key, template: 'identity-unlinked', userId: event.payload.userId });
  },
);

export const mailPasskeyAdded = defineListener(
  'mail-passkey-added',
  [on(passkey, 'created')],
  ({ event, key, start }) => {
    for (const userId of personIn(event.actor)) start(sendEmailContract, { key, template: 'passkey-added', userId });
  },
);

export const mailPasskeyRemoved = defineListener(
  'mail-passkey-removed',
  [on(passkey, 'deleted')],
  ({ event, key, start }) => {
    // The server also removes those of a deleted account, which gets no mail, and of an account
    // whose password was set with a mailed link, which gets one mail about everything.
    for (const userId of personIn(event.actor)) start(sendEmailContract, { key, template: 'passkey-removed', userId });
  },
);

/** A refused sign-in that is repeated causes one mail a day. */
export const mailCopiedPasskey = defineListener(
  'mail-copied-passkey',
  [on(passkey, 'sign_count_decreased')],
  ({ event: { entityId, payload, occurredAt }, start }) => {
    const day = Math.floor(occurredAt.getTime() / dayMs);
    start(sendEmailContract, {
      key: `${entityId}/passkey-copied/${day}`,
      template: 'passkey-copied',
      userId: payload.userId,
    });
  },
);

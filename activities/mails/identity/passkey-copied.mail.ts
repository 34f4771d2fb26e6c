import { passkey } from '#entities/identity/passkey.ts';
import { on } from '#entities/kit/model/events.ts';
import { defineMail } from '../define-mail.ts';

const dayMs = 86_400_000;

/** A refused sign-in that is repeated causes one mail a day. */
export const passkeyCopiedMail = defineMail('passkey-copied', {
  listener: 'mail-copied-passkey',
  follows: [on(passkey, 'sign_count_decreased')],
  audience: ({ event: { entityId, payload, occurredAt } }) => {
    const day = Math.floor(occurredAt.getTime() / dayMs);
    return [{ key: `${entityId}/passkey-copied/${day}`, userId: payload.userId }];
  },
  text: {
    subject: 'A sign-in to your account was refused',
    paragraphs: [
      'A sign-in was attempted with a passkey that may be a copy of your passkey. The sign-in was refused.',
      'If you did not expect this, delete the passkey and add a new one.',
    ],
  },
});

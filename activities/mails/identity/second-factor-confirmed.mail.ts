import { secondFactor } from '#entities/identity/second-factor.ts';
import { on } from '#entities/kit/model/events.ts';
import { personOfPayload } from '../audience.ts';
import { defineMail } from '../define-mail.ts';

export const secondFactorConfirmedMail = defineMail('second-factor-confirmed', {
  listener: 'mail-second-factor',
  follows: [on(secondFactor, 'confirmed')],
  audience: personOfPayload,
  text: {
    subject: 'Your account has a second factor',
    paragraphs: [
      'An authenticator app was set up for your account. Each sign-in now asks for one of its codes. Keep the recovery codes in a safe place.',
      'If this was not you, somebody has used a device on which you are signed in. Sign out that device, and contact our support immediately.',
    ],
  },
});

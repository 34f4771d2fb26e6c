import { secondFactor } from '#entities/identity/second-factor.ts';
import { on } from '#entities/kit/model/events.ts';
import { personOfPayload } from '../audience.ts';
import { defineMail } from '../define-mail.ts';

export const recoveryCodesReplacedMail = defineMail('recovery-codes-replaced', {
  listener: 'mail-second-factor',
  follows: [on(secondFactor, 'recovery_codes_replaced')],
  audience: personOfPayload,
  text: {
    subject: 'Your account has new recovery codes',
    paragraphs: [
      'New recovery codes were created for your account. The previous ones no longer work.',
      'If this was not you, change your password immediately, and create new recovery codes.',
    ],
  },
});

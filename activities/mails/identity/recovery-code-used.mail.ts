import { secondFactor } from '#entities/identity/second-factor.ts';
import { on } from '#entities/kit/model/events.ts';
import { personOfPayload } from '../audience.ts';
import { defineMail } from '../define-mail.ts';

export const recoveryCodeUsedMail = defineMail('recovery-code-used', {
  listener: 'mail-second-factor',
  follows: [on(secondFactor, 'recovery_code_used')],
  audience: personOfPayload,
  text: {
    subject: 'A recovery code was used',
    paragraphs: [
      'A recovery code was used instead of a code of your authenticator app. This recovery code no longer works.',
      'If this was not you, change your password immediately, and create new recovery codes.',
    ],
  },
});

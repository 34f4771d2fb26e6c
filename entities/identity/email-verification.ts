import { Type } from 'typebox';
import { defineEntityModule } from '../kit/model/define.ts';
import { payload } from '../kit/model/events.ts';
import { email, integer, text } from '../kit/model/fields.ts';
import { mailedLinkKind, mailedLinkTimes } from '../presets/mailed-link-kind.ts';

/**
 * One record for each sign-up and for each request to send the mail again. Each has a link of its own, with the password that becomes valid
 * once that link is confirmed. The token is derived from `round`, too.
 */
export const emailVerification = defineEntityModule({
  kind: 'emailVerification',
  table: 'email_verifications',
  description: 'Request to verify that a person owns an e-mail address.',
  fields: {
    email: email('E-mail address to verify.', { immutable: true }),
    passwordHash: text(
      'argon2id hash of the password that is valid once this link is confirmed; null: the link is void.',
      { max: 256, optional: true, secret: true },
    ),
    firstName: text('Given name written at sign-up.', { max: 64, optional: true }),
    lastName: text('Family name written at sign-up.', { max: 64, optional: true }),
    round: integer('1 for a sign-up; greater by 1 for each later request to send its mail again.', {
      min: 1,
      max: 1_000,
      default: 1,
      immutable: true,
    }),
    ...mailedLinkTimes(
      'if another one had just been sent',
      'When the address was verified, with this link or with another.',
    ),
  },
  indexes: [['email']],
  ...mailedLinkKind('an address belongs to nobody until it is verified'),
  customEvents: {
    requested: {
      description: 'Somebody signed up, or asked for the verification e-mail again.',
      payload: payload({ round: Type.Integer({ description: '`round` of the record.' }) }),
    },
  },
});

import { Type } from 'typebox';
import { defineEntityModule } from '../kit/model/define.ts';
import { payload } from '../kit/model/events.ts';
import { email, integer, text, timestamp } from '../kit/model/fields.ts';
import { internalRecord } from '../presets/internal-record.ts';

/**
 * One record for each sign-up and for each request to send the mail again, whether or not the address has an account, so that the duration
 * of the work does not reveal it. Each has a link of its own, with the password that becomes valid once that link is confirmed. The token
 * itself is not stored: it is derived from the id and `round` with a secret key of the server, so a copy of the table does not verify
 * anything.
 */
export const emailVerification = defineEntityModule({
  kind: 'emailVerification',
  table: 'email_verifications',
  description: 'Request to verify that a person owns an e-mail address.',
  fields: {
    email: email('E-mail address to verify.', { immutable: true }),
    passwordHash: text(
      'argon2id hash of the password that is valid once this link is confirmed; null: the link is void.',
      {
        max: 256,
        optional: true,
        secret: true,
      },
    ),
    firstName: text('Given name written at sign-up.', { max: 64, optional: true }),
    lastName: text('Family name written at sign-up.', { max: 64, optional: true }),
    round: integer('1 for a sign-up; greater by 1 for each later request to send its mail again.', {
      min: 1,
      max: 1_000,
      default: 1,
      immutable: true,
    }),
    sentAt: timestamp('When the e-mail with this link was requested; null if another one had just been sent.', {
      optional: true,
      immutable: true,
    }),
    expiresAt: timestamp('When the link expires.', { immutable: true }),
    usedAt: timestamp('When the address was verified, with this link or with another.', { optional: true }),
  },
  indexes: [['email']],
  tenancy: { none: 'an address belongs to nobody until it is verified' },
  policy: internalRecord(),
  events: ['created', 'updated'],
  customEvents: {
    requested: {
      description: 'Somebody signed up, or asked for the verification e-mail again.',
      payload: payload({ round: Type.Integer({ description: '`round` of the record.' }) }),
    },
  },
});

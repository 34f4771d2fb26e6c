import { Type } from 'typebox';
import { defineEntityModule } from '../kit/model/define.ts';
import { payload } from '../kit/model/events.ts';
import { email, integer, timestamp } from '../kit/model/fields.ts';
import { internalRecord } from '../presets/internal-record.ts';

/**
 * The token itself is not stored: it is derived from the id and `round` of this row with a secret key of the server, so a
 * copy of the table does not verify anything.
 */
export const emailVerification = defineEntityModule({
  kind: 'emailVerification',
  table: 'email_verifications',
  description: 'Request to verify that a user owns an e-mail address.',
  fields: {
    email: email('E-mail address to verify.', { immutable: true }),
    round: integer('Number of the latest e-mail; links in earlier e-mails are invalid.', {
      min: 1,
      max: 1_000,
      default: 1,
    }),
    sentAt: timestamp('When the latest e-mail was requested.'),
    expiresAt: timestamp('When the link in the latest e-mail expires.'),
    usedAt: timestamp('When the address was verified.', { optional: true }),
  },
  unique: [{ fields: ['userId'], message: 'This user already has an open verification.' }],
  tenancy: 'user',
  policy: internalRecord(),
  expose: {},
  filter: ['email'],
  order: [],
  events: ['created', 'updated'],
  customEvents: {
    requested: {
      description: 'A verification e-mail was requested.',
      payload: payload({ round: Type.Integer({ description: 'Number of the e-mail: `round` of the record.' }) }),
    },
  },
});

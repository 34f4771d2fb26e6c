import { defineEntityModule } from '../kit/model/define.ts';
import { payload } from '../kit/model/events.ts';
import { email, timestamp } from '../kit/model/fields.ts';
import { internalRecord } from '../presets/internal-record.ts';

/**
 * One record for each request to reset a password, whether or not the address has an account, so that the duration of the work does not
 * reveal it. The token of its link is not stored: it is derived from the id with a secret key of the server.
 */
export const passwordReset = defineEntityModule({
  kind: 'passwordReset',
  table: 'password_resets',
  description: 'Request to set a new password by a link that is e-mailed.',
  fields: {
    email: email('Address that the link is e-mailed to, if it has an account.', { immutable: true }),
    sentAt: timestamp('When the e-mail with this link was requested; null if another one had just been sent.', {
      optional: true,
      immutable: true,
    }),
    expiresAt: timestamp('When the link expires.', { immutable: true }),
    usedAt: timestamp('When a password was set, with this link or with another.', { optional: true }),
  },
  indexes: [['email']],
  tenancy: { none: 'whether an address has an account is not known when it is requested' },
  policy: internalRecord(),
  events: ['created', 'updated'],
  customEvents: {
    requested: { description: 'Somebody asked for a link to set a new password.', payload: payload({}) },
  },
});

import { defineEntityModule } from '../kit/model/define.ts';
import { payload } from '../kit/model/events.ts';
import { email, text, timestamp } from '../kit/model/fields.ts';
import { internalRecord } from '../presets/internal-record.ts';

/**
 * One record for each request to change an address, whether or not the new address has an account, so that the duration of the work does
 * not reveal it. The token of its link is not stored: it is derived from the id with a secret key of the server. A deleted account leaves
 * one without a new address: it outlives the account, for the mail that reports the deletion.
 */
export const emailChange = defineEntityModule({
  kind: 'emailChange',
  table: 'email_changes',
  description: 'Request of a user to give up their e-mail address: for another one, or together with the account.',
  fields: {
    userId: text('Id of the user.', { max: 26, immutable: true }),
    email: email('Address of the user at the request.', { immutable: true }),
    newEmail: email('Address that the user wants, to which the link is e-mailed; null for a deleted account.', {
      optional: true,
      immutable: true,
    }),
    sentAt: timestamp('When the e-mail with this link was requested; null where none was sent.', {
      optional: true,
      immutable: true,
    }),
    expiresAt: timestamp('When the link expires.', { immutable: true }),
    usedAt: timestamp('When the address was given up, or the link became void.', { optional: true }),
  },
  indexes: [['userId'], ['newEmail'], ['email']],
  tenancy: { none: 'it outlives the account, and is for the server alone' },
  policy: internalRecord(),
  events: ['created', 'updated'],
  customEvents: {
    requested: { description: 'A user asked to change their e-mail address.', payload: payload({}) },
    confirmed: {
      description: 'A user confirmed a new e-mail address, which replaced the old one.',
      payload: payload({}),
    },
    account_deleted: {
      description: 'A user deleted their account, which gave its e-mail address up.',
      payload: payload({}),
    },
  },
});

import { defineEntityModule } from '../kit/model/define.ts';
import { payload } from '../kit/model/events.ts';
import { email, text } from '../kit/model/fields.ts';
import { mailedLinkKind, mailedLinkTimes } from '../presets/mailed-link-kind.ts';

/** A deleted account leaves one without a new address: it outlives the account, for the mail that reports the deletion. */
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
    ...mailedLinkTimes('where none was sent', 'When the address was given up, or the link became void.'),
  },
  indexes: [['userId'], ['newEmail'], ['email']],
  ...mailedLinkKind('it outlives the account, and is for the server alone'),
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

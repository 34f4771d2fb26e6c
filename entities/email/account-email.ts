import { defineEntityModule } from '../kit/model/define.ts';
import { internalKind } from '../presets/internal-kind.ts';
import { emailFields } from './email-fields.ts';

/** The same as `email`, for e-mails that concern a person and no organization: nobody but the server sees them. */
export const accountEmail = defineEntityModule({
  kind: 'accountEmail',
  table: 'account_emails',
  description:
    'E-mail about the account of a person, or to an address that has none yet. It is removed after 180 days; one that waits or was given up, after a year.',
  fields: emailFields({ isShown: false }),
  unique: [{ fields: ['key'], message: 'This e-mail is recorded already.' }],
  ...internalKind('accounts belong to no organization'),
  events: [],
});

import { defineEntityModule } from '../kit/model/define.ts';
import { internalKind } from '../presets/internal-kind.ts';
import { suppressedEmailOf, suppressionFields } from './suppression-fields.ts';

/** The same as `emailSuppression`, for e-mails about accounts. */
export const accountEmailSuppression = defineEntityModule({
  kind: 'accountEmailSuppression',
  table: 'account_email_suppressions',
  description: 'Address to which no e-mails about accounts are sent.',
  fields: suppressionFields({ isShown: false }),
  unique: [{ fields: ['suppressedEmail'], message: 'This address gets no e-mails already.' }],
  ...internalKind('accounts belong to no organization'),
  events: [],
  hooks: { derivedValues: suppressedEmailOf },
});

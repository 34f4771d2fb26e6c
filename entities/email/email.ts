import { text, timestamp } from '../kit/model/fields.ts';
import { defineEntityModule } from '../kit/model/define.ts';
import { payload } from '../kit/model/events.ts';
import { allow, anyone, deny, scope, system } from '../kit/model/policy.ts';
import { managers } from '../presets/roles.ts';
import { emailFields } from './email-fields.ts';

/** Written by activities/email, one for each key. */
export const email = defineEntityModule({
  kind: 'email',
  table: 'emails',
  description:
    'E-mail that the server sends for the organization. Managers see its status, and can send it again. E-mails about the account of a person are not among them. It is removed after 180 days; one that waits or was given up, and was not sent again, after a year.',
  fields: {
    ...emailFields({ isShown: true }),
    addressHash: text(
      'Keyed hash of the address to which it went: the link to unsubscribe names the address while it is still that of the recipient.',
      { max: 43, optional: true, immutable: true },
    ),
    resentAt: timestamp('When somebody last asked to send it again, as a further e-mail.', {
      optional: true,
      exposed: 'read',
    }),
  },
  unique: [{ fields: ['organizationId', 'key'], message: 'This e-mail is recorded already.' }],
  tenancy: 'organization',
  policy: {
    view: [allow(system), allow(managers), allow(scope), deny(anyone)],
    create: [allow(system)],
    // To have it sent again (api/actions/email/resend-email.ts).
    edit: [allow(system), allow(managers), allow(scope)],
    remove: [allow(system)],
  },
  events: [],
  customEvents: {
    resent: { description: 'Somebody asked to send an e-mail again.', payload: payload({}) },
  },
});

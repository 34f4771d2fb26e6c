import { defineEntityModule } from '../kit/model/define.ts';
import { payload } from '../kit/model/events.ts';
import { email } from '../kit/model/fields.ts';
import { mailedLinkKind, mailedLinkTimes } from '../presets/mailed-link-kind.ts';

export const passwordReset = defineEntityModule({
  kind: 'passwordReset',
  table: 'password_resets',
  description: 'Request to set a new password by a link that is e-mailed.',
  fields: {
    email: email('Address that the link is e-mailed to, if it has an account.', { immutable: true }),
    ...mailedLinkTimes('if another one had just been sent', 'When a password was set, with this link or with another.'),
  },
  indexes: [['email']],
  ...mailedLinkKind('whether an address has an account is not known when it is requested'),
  customEvents: {
    requested: { description: 'Somebody asked for a link to set a new password.', payload: payload({}) },
  },
});

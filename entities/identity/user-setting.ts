import { defineEntityModule } from '../kit/model/define.ts';
import { choice, text } from '../kit/model/fields.ts';
import { timeZone } from '../kit/model/composed/time-zone.ts';
import { allow, anyone, deny, self, system } from '../kit/model/policy.ts';
import { internalRecord } from '../presets/internal-record.ts';

export const userSetting = defineEntityModule({
  kind: 'userSetting',
  table: 'user_settings',
  description:
    'Preferences of a person for the user interface; created together with the account. Name and picture are those of the user, and the organization in which sign-ins begin is set with PUT /v1/account/default-organization.',
  fields: {
    timezone: timeZone('Time zone of the person; null for that of the organization.', {
      optional: true,
      exposed: 'read-write',
    }),
    locale: text('Language, and region if it matters (BCP 47), for example en or pt-BR.', {
      max: 11,
      pattern: /^[a-z]{2,3}(-[A-Z][a-z]{3})?(-[A-Z]{2})?$/,
      default: 'en',
      exposed: 'read-write',
    }),
    colorScheme: choice('Colours of the user interface.', ['system', 'light', 'dark'], {
      default: 'system',
      exposed: 'read-write',
    }),
  },
  unique: [{ fields: ['userId'], message: 'This person already has settings.' }],
  tenancy: 'user',
  policy: {
    ...internalRecord(),
    view: [allow(system), allow(self('userId')), deny(anyone)],
    edit: [allow(system), allow(self('userId'))],
  },
  mutate: ['update'],
  events: ['created', 'updated'],
});

import { roles } from '../kit/model/caller.ts';
import { defineEntityModule } from '../kit/model/define.ts';
import { email, flag, text } from '../kit/model/fields.ts';
import { allow, anyone, deny, role, system } from '../kit/model/policy.ts';
import { internalRecord } from '../presets/internal-record.ts';
import { managers } from '../presets/roles.ts';

export const organizationSetting = defineEntityModule({
  kind: 'organizationSetting',
  table: 'organization_settings',
  description: 'Settings of an organization; created together with it.',
  fields: {
    billingEmail: email('E-mail address for invoices; initially the address of the owner.', { optional: true }),
    timezone: text('IANA time zone of the organization; determines where its days begin.', { max: 64, default: 'UTC' }),
    requiresSecondFactor: flag(
      'Whether members need a second factor to act in the organization and in the organizations that are part of it. Members without one can set it up, and then enter.',
      { default: false },
    ),
    filesNeedVerdict: flag(
      'Whether files of the organization, also those that are there already, are withheld until an API token has reported them clean (FileVerdict). Pictures of people are not withheld.',
      { default: false },
    ),
  },
  unique: [{ fields: ['organizationId'], message: 'This organization already has settings.' }],
  tenancy: 'organization',
  policy: {
    ...internalRecord(),
    view: [allow(system), allow(role(...roles)), deny(anyone)],
    edit: [allow(system), allow(managers)],
  },
  expose: {
    billingEmail: 'read-write',
    timezone: 'read-write',
    requiresSecondFactor: 'read-write',
    filesNeedVerdict: 'read-write',
  },
  filter: [],
  order: ['createdAt'],
  mutate: ['update'],
  needsSession: 'changes',
  needsProof: { requiresSecondFactor: 'any', filesNeedVerdict: 'any' },
  events: ['created', 'updated'],
});

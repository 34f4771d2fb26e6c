import { defineEntityModule } from '../kit/model/define.ts';
import { email, text } from '../kit/model/fields.ts';
import { allow, anyone, deny, role, system } from '../kit/model/policy.ts';

const managers = role('owner', 'super_admin', 'admin');

export const organizationSetting = defineEntityModule({
  kind: 'organizationSetting',
  table: 'organization_settings',
  description: 'Settings of one organization; made when the organization is.',
  fields: {
    billingEmail: email('Where invoices go; the address of the owner at first.', { optional: true }),
    timezone: text('IANA time zone in which days of the organization begin.', { max: 64, default: 'UTC' }),
  },
  unique: [{ fields: ['organizationId'], message: 'This organization has its settings already.' }],
  tenancy: 'organization',
  policy: {
    view: [allow(system), allow(role('owner', 'super_admin', 'admin', 'member', 'auditor')), deny(anyone)],
    create: [allow(system)],
    edit: [allow(system), allow(managers)],
    remove: [allow(system)],
  },
  expose: { billingEmail: 'read-write', timezone: 'read-write' },
  filter: [],
  order: ['createdAt'],
  mutate: ['update'],
  events: ['created', 'updated'],
});

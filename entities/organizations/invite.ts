import { defineEntityModule } from '../kit/model/define.ts';
import { choice, email, integer, timestamp } from '../kit/model/fields.ts';
import { allow, anyone, deny, role, scope, system } from '../kit/model/policy.ts';

const managers = role('owner', 'super_admin', 'admin');

export const invite = defineEntityModule({
  kind: 'invite',
  table: 'invites',
  description: 'Somebody is asked to join an organization.',
  fields: {
    recipient: email('Address of whoever is asked.', { immutable: true }),
    role: choice('Role they will have.', ['admin', 'member', 'auditor'], { default: 'member' }),
    status: choice('What became of it.', ['sent', 'accepted', 'expired', 'withdrawn'], { default: 'sent' }),
    sendAttempts: integer('Mails sent so far.', { min: 0, max: 100, default: 0 }),
    expiresAt: timestamp('Until when it can be accepted.', { optional: true }),
  },
  unique: [{ fields: ['organizationId', 'recipient'], message: 'This address has been asked already.' }],
  tenancy: 'organization',
  policy: {
    view: [allow(system), allow(managers), allow(scope), deny(anyone)],
    create: [allow(system), allow(managers), allow(scope)],
    edit: [allow(system), allow(managers), allow(scope)],
    remove: [allow(system), allow(managers), allow(scope)],
  },
  expose: { recipient: 'read-write', role: 'read-write', status: 'read', sendAttempts: 'read', expiresAt: 'read' },
  filter: ['recipient', 'role', 'status'],
  order: ['expiresAt', 'createdAt'],
  search: ['recipient'],
  mutate: ['create', 'update', 'delete'],
  events: ['created', 'updated', 'deleted'],
});

import { defineEntityModule } from '../kit/model/define.ts';
import { text } from '../kit/model/fields.ts';
import { allow, anyone, creators, deny, related, role, scope, system } from '../kit/model/policy.ts';

export const group = defineEntityModule({
  kind: 'group',
  table: 'groups',
  description: 'Group of users who receive permissions together.',
  fields: {
    name: text('Name; unique within the organization.', { min: 2, max: 160 }),
    displayName: text('Display name; falls back to the name when empty.', { max: 64, optional: true }),
    description: text('Purpose of the group.', { max: 2_000, optional: true }),
  },
  displayId: 'GRP',
  unique: [{ fields: ['organizationId', 'name'], message: 'A group with this name already exists.' }],
  tenancy: 'organization',
  policy: {
    view: [
      allow(system),
      allow(role('owner', 'super_admin')),
      allow(scope),
      allow(related('admin', 'member', 'viewer')),
      deny(anyone),
    ],
    create: [allow(system), allow(role('owner', 'super_admin', 'admin')), allow(scope), allow(creators)],
    edit: [allow(system), allow(role('owner', 'super_admin')), allow(scope), allow(related('admin'))],
    remove: [allow(system), allow(role('owner', 'super_admin')), allow(scope), allow(related('admin'))],
  },
  expose: { name: 'read-write', displayName: 'read-write', description: 'read-write' },
  filter: ['name'],
  order: ['name', 'createdAt'],
  search: ['name', 'displayName'],
  mutate: ['create', 'update', 'delete'],
  events: ['created', 'updated', 'deleted'],
  managedBy: { kind: 'groupMembership', record: 'groupId', person: 'userId', values: { role: 'admin' } },
});

import { defineEntityModule } from '../kit/model/define.ts';
import { text } from '../kit/model/fields.ts';
import { allow, anyone, creators, deny, related, role, scope, system } from '../kit/model/policy.ts';

export const group = defineEntityModule({
  kind: 'group',
  table: 'groups',
  description: 'People of an organization who are given rights together.',
  fields: {
    name: text('Name, unique in the organization.', { min: 2, max: 160 }),
    displayName: text('Name shown to people; the name when empty.', { max: 64, optional: true }),
    description: text('What the group is for.', { max: 2_000, optional: true }),
  },
  displayId: 'GRP',
  unique: [{ fields: ['organizationId', 'name'], message: 'A group with this name exists already.' }],
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
});

import { defineEntityModule } from './kit/define.ts';
import { choice, member, reference } from './kit/fields.ts';
import { allow, anyone, deny, role, system } from './kit/policy.ts';

const managers = role('owner', 'super_admin', 'admin');

export const groupMembership = defineEntityModule({
  kind: 'groupMembership',
  table: 'group_memberships',
  description: 'A person belongs to a group.',
  fields: {
    groupId: reference('group', 'The group.', { immutable: true, onDelete: 'cascade', requires: 'edit' }),
    userId: member('The person.', { immutable: true, onLeave: 'cascade' }),
    role: choice('What the person may do with the group.', ['admin', 'member'], { default: 'member' }),
  },
  unique: [{ fields: ['groupId', 'userId'], message: 'This person is in the group already.' }],
  tenancy: 'organization',
  policy: {
    view: [allow(system), allow(role('owner', 'super_admin', 'admin', 'member', 'auditor')), deny(anyone)],
    create: [allow(system), allow(managers)],
    edit: [allow(system), allow(managers)],
    remove: [allow(system), allow(managers)],
  },
  expose: { groupId: 'read-write', userId: 'read-write', role: 'read-write' },
  filter: ['groupId', 'userId', 'role'],
  order: ['createdAt'],
  mutate: ['create', 'update', 'delete'],
  events: ['created', 'updated', 'deleted'],
});

import { defineEntityModule } from '../kit/model/define.ts';
import { choice, member, reference } from '../kit/model/fields.ts';
import { allow, anyone, deny, related, scope, system, through } from '../kit/model/policy.ts';

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
    view: [allow(system), allow(scope), allow(through('groupId')), deny(anyone)],
    create: [allow(system), allow(scope), allow(through('groupId'))],
    edit: [allow(system), allow(scope), allow(through('groupId'))],
    remove: [allow(system), allow(scope), allow(through('groupId')), allow(related('subject'))],
  },
  expose: { groupId: 'read-write', userId: 'read-write', role: 'read-write' },
  filter: ['groupId', 'userId', 'role'],
  order: ['createdAt'],
  mutate: ['create', 'update', 'delete'],
  events: ['created', 'updated', 'deleted'],
  grants: [
    { object: { kind: 'group', id: 'groupId' }, relation: 'member', subject: { kind: 'user', id: 'userId' } },
    {
      object: { kind: 'group', id: 'groupId' },
      relation: 'admin',
      subject: { kind: 'user', id: 'userId' },
      when: { field: 'role', is: 'admin' },
    },
    // Whoever is in a group may leave it.
    { object: { kind: 'groupMembership', id: 'id' }, relation: 'subject', subject: { kind: 'user', id: 'userId' } },
  ],
});

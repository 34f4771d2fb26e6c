import { defineEntityModule } from '../kit/model/define.ts';
import { choice, reference } from '../kit/model/fields.ts';
import { allow, anyone, deny, scope, system, through } from '../kit/model/policy.ts';

export const groupSetting = defineEntityModule({
  kind: 'groupSetting',
  table: 'group_settings',
  description: 'Settings of one group.',
  fields: {
    groupId: reference('group', 'The group.', { immutable: true, onDelete: 'cascade', requires: 'edit' }),
    visibility: choice('Who sees the group: everybody in the organization, or its members.', ['public', 'private'], {
      default: 'public',
    }),
    joinPolicy: choice('How people come in.', ['open', 'invite_only', 'application_only', 'invite_or_application'], {
      default: 'invite_or_application',
    }),
  },
  unique: [{ fields: ['groupId'], message: 'This group has its settings already.' }],
  tenancy: 'organization',
  policy: {
    view: [allow(system), allow(scope), allow(through('groupId')), deny(anyone)],
    create: [allow(system), allow(scope), allow(through('groupId'))],
    edit: [allow(system), allow(scope), allow(through('groupId'))],
    remove: [allow(system)],
  },
  expose: { groupId: 'read-write', visibility: 'read-write', joinPolicy: 'read-write' },
  filter: ['groupId', 'visibility'],
  order: ['createdAt'],
  mutate: ['create', 'update'],
  events: ['created', 'updated', 'deleted'],
  grants: [
    {
      object: { kind: 'group', id: 'groupId' },
      relation: 'viewer',
      subject: { kind: 'organization', id: 'organizationId' },
      when: { field: 'visibility', is: 'public' },
    },
  ],
});

import { refusesChanges } from '../kit/model/behaviours/refuses-changes.ts';
import { defineEntityModule } from '../kit/model/define.ts';
import { choice, reference } from '../kit/model/fields.ts';
import { allow, system } from '../kit/model/policy.ts';
import { partOfRecord } from '../presets/part-of-record.ts';
import { refusedInManagedGroup } from '../presets/managed-group.ts';

export const groupSetting = defineEntityModule({
  kind: 'groupSetting',
  table: 'group_settings',
  description: 'Settings of a group.',
  fields: {
    groupId: reference('group', 'Group that these settings apply to.', {
      immutable: true,
      onDelete: 'cascade',
      requires: 'edit',
      exposed: 'read-write',
      lists: ['filter'],
    }),
    visibility: choice(
      'Whether all members of the organization see the group (public) or only its own members (private).',
      ['public', 'private'],
      { default: 'public', exposed: 'read-write', lists: ['filter'] },
    ),
    joinPolicy: choice(
      'Way in which people who see the group join it: immediately (open), with the consent of one of its managers (apply), or only when a manager adds them (invite_only).',
      ['open', 'apply', 'invite_only'],
      { default: 'apply', exposed: 'read-write' },
    ),
  },
  unique: [{ fields: ['groupId'], message: 'This group already has settings.' }],
  tenancy: 'organization',
  behaviours: [refusesChanges([refusedInManagedGroup('Everybody in the organization sees the group.')])],
  policy: { ...partOfRecord('groupId'), remove: [allow(system)] },
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

import { defineEntityModule } from '../kit/model/define.ts';
import { reference, text } from '../kit/model/fields.ts';
import { reportedRecord } from '../presets/reported-record.ts';

export const directoryMembership = defineEntityModule({
  kind: 'directoryMembership',
  table: 'directory_memberships',
  description: 'Membership of an account in a group of a directory.',
  fields: {
    integrationId: reference('integration', 'Integration of the directory.', {
      immutable: true,
      onDelete: 'cascade',
      reverse: 'directoryMemberships',
      exposed: 'read',
      lists: ['filter'],
    }),
    accountId: reference('directoryAccount', 'Account that is in the group.', {
      immutable: true,
      onDelete: 'cascade',
      reverse: 'memberships',
      exposed: 'read',
      lists: ['filter'],
    }),
    groupId: reference('directoryGroup', 'Group.', {
      immutable: true,
      onDelete: 'cascade',
      reverse: 'memberships',
      exposed: 'read',
      lists: ['filter'],
    }),
    role: text('Role in the group, as the directory names it.', { max: 64, optional: true, exposed: 'read' }),
  },
  unique: [{ fields: ['accountId', 'groupId'], message: 'The account is in this group already.' }],
  tenancy: 'organization',
  policy: reportedRecord(),
  events: ['created', 'updated', 'deleted'],
});

import { automated } from '../kit/behaviours/automated.ts';
import { follows } from '../kit/behaviours/follows.ts';
import { refusesChanges } from '../kit/model/behaviours/refuses-changes.ts';
import { decidesCallers } from '../kit/model/behaviours/decides-callers.ts';
import { defineEntityModule } from '../kit/model/define.ts';
import { isAuditor } from '../kit/model/derived/only-auditors.ts';
import { choice, member, reference } from '../kit/model/fields.ts';
import { allow, related } from '../kit/model/policy.ts';
import { partOfRecord } from '../presets/part-of-record.ts';
import { managerRoles } from '../presets/roles.ts';
import { refusedInManagedGroup } from '../presets/managed-group.ts';

const managers = managerRoles.map((role) => `'${role}'`).join(', ');

const managed = refusedInManagedGroup('Change the role of the member in the organization instead.');

export const groupMembership = defineEntityModule({
  kind: 'groupMembership',
  table: 'group_memberships',
  description: 'Membership of a user in a group.',
  fields: {
    groupId: reference('group', 'Group that the user belongs to.', {
      immutable: true,
      onDelete: 'cascade',
      requires: 'edit',
      exposed: 'read-write',
      lists: ['filter'],
    }),
    userId: member('User who belongs to the group.', {
      immutable: true,
      onLeave: 'cascade',
      exposed: 'read-write',
      lists: ['filter'],
    }),
    role: choice('Role of the user in the group.', ['admin', 'member'], {
      default: 'member',
      exposed: 'read-write',
      lists: ['filter'],
    }),
  },
  unique: [{ fields: ['groupId', 'userId'], message: 'This user is already in the group.' }],
  tenancy: 'organization',
  behaviours: [
    decidesCallers({ of: 'userId', by: ['groupId'] }),
    automated({ fields: ['role'] }),
    refusesChanges([
      managed,
      {
        on: ['create', 'edit'],
        unlessSystem: true,
        refuseIf: `given.role = 'admin' and ${isAuditor('row.user_id', 'row.organization_id')}`,
        field: 'role',
        code: 'rule_violated',
        message: 'The person is an auditor, who only reads and cannot manage the group. Add them with the role member.',
      },
    ]),
    follows({
      kind: 'membership',
      by: ['organizationId', 'userId'],
      from: `groups as g on g.organization_id = followed.organization_id and g.deleted_at is null and g.managed_as
      in ('all_members', case when followed.role in (${managers}) then 'admins' else 'viewers' end)`,
      values: { groupId: 'g.id', role: `'member'` },
      which: managed.refuseIf,
    }),
  ],
  policy: {
    ...partOfRecord('groupId'),
    remove: [...partOfRecord('groupId').remove, allow(related('subject'))],
  },
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
    // Members may leave a group on their own.
    { object: { kind: 'groupMembership', id: 'id' }, relation: 'subject', subject: { kind: 'user', id: 'userId' } },
  ],
});

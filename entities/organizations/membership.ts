import { roles } from '../kit/model/caller.ts';
import { automated } from '../kit/behaviours/automated.ts';
import { givesRole } from '../kit/behaviours/gives-role.ts';
import { keepsLast } from '../kit/behaviours/keeps-last.ts';
import { announced } from '../kit/model/behaviours/announced.ts';
import { decidesCallers } from '../kit/model/behaviours/decides-callers.ts';
import { guarded } from '../kit/model/behaviours/guarded.ts';
import { reachable } from '../kit/model/behaviours/reachable.ts';
import { defineEntityModule } from '../kit/model/define.ts';
import { choice, reference } from '../kit/model/fields.ts';
import { allow, deny, anyone, role, roleIn, scope, scopeGivenBy, self, system } from '../kit/model/policy.ts';
import { managerRoles } from '../presets/roles.ts';

const managers = roleIn('organizationId', ...managerRoles);
const byTheTop = scopeGivenBy('owner', 'super_admin');

export const membership = defineEntityModule({
  kind: 'membership',
  table: 'memberships',
  description: 'Membership of a user in an organization, with one role.',
  fields: {
    userId: reference('user', 'User who is a member of the organization.', {
      immutable: true,
      onDelete: 'cascade',
      exposed: 'read-write',
      lists: ['filter'],
    }),
    role: choice('Role of the user in the organization.', roles, {
      default: 'member',
      exposed: 'read-write',
      lists: ['filter'],
      needsProof: ['owner'],
    }),
  },
  unique: [{ fields: ['organizationId', 'userId'], message: 'This user is already a member.' }],
  tenancy: 'organization',
  policy: {
    view: [allow(system), allow(self('userId')), allow(role(...roles)), allow(scope), deny(anyone)],
    create: [allow(system)],
    edit: [allow(system), allow(roleIn('organizationId', 'owner', 'super_admin')), allow(byTheTop)],
    remove: [allow(system), allow(self('userId')), allow(managers), allow(byTheTop)],
  },
  behaviours: [
    reachable({
      rlsUsing: 'organization_id = $organization or user_id = $user',
      // People leave organizations in which they do not act at the moment.
      rlsWithCheck: 'organization_id = $organization or (user_id = $user and deleted_at is not null)',
    }),
    decidesCallers({ of: 'userId', by: ['role'] }),
    announced({ by: managerRoles }),
    guarded({
      // Roles decide who else gets rights. Tokens change them within limits (`givesRole`).
      closedToDelegates: 'changes',
    }),
    automated({ fields: ['role'] }),
    givesRole({ field: 'role', holder: 'userId' }),
    keepsLast({
      field: 'role',
      is: 'owner',
      // A person who is deactivated or locked out cannot act for the organization.
      validIf: `exists (select 1 from users u where u.id = held.user_id and u.status = 'active' and u.deleted_at is null)`,
      message:
        'The organization would be left without an active owner. Transfer its ownership to another member first, or delete the organization.',
    }),
  ],
  // For the list of one's own, which is that of all organizations.
  tenancyFilter: true,
  mutate: ['update', 'delete'],
  events: ['created', 'updated', 'deleted'],
  grants: [
    {
      object: { kind: 'organization', id: 'organizationId' },
      relation: { field: 'role' },
      subject: { kind: 'user', id: 'userId' },
    },
  ],
});

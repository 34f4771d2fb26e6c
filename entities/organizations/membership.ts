import { roles } from '../kit/model/caller.ts';
import { defineEntityModule } from '../kit/model/define.ts';
import { choice, reference } from '../kit/model/fields.ts';
import { allow, deny, anyone, role, roleIn, self, system } from '../kit/model/policy.ts';

const managers = roleIn('organizationId', 'owner', 'super_admin', 'admin');

export const membership = defineEntityModule({
  kind: 'membership',
  table: 'memberships',
  description: 'A person belongs to an organization, in one role.',
  fields: {
    userId: reference('user', 'The person.', { immutable: true, onDelete: 'cascade' }),
    role: choice('What the person may do in the organization.', roles, { default: 'member' }),
  },
  unique: [{ fields: ['organizationId', 'userId'], message: 'This person is a member already.' }],
  tenancy: 'organization',
  rlsUsing: 'organization_id = $organization or user_id = $user',
  rlsWithCheck: 'organization_id = $organization',
  policy: {
    view: [allow(system), allow(self('userId')), allow(role(...roles)), deny(anyone)],
    create: [allow(system)],
    edit: [allow(system), allow(roleIn('organizationId', 'owner', 'super_admin'))],
    remove: [allow(system), allow(self('userId')), allow(managers)],
  },
  expose: { userId: 'read-write', role: 'read-write' },
  filter: ['userId', 'role'],
  order: ['createdAt'],
  events: ['created', 'updated', 'deleted'],
  grants: [
    {
      object: { kind: 'organization', id: 'organizationId' },
      relation: { field: 'role' },
      subject: { kind: 'user', id: 'userId' },
    },
  ],
});

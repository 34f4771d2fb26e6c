import { defineEntityModule } from '../kit/model/define.ts';
import { flag, reference, text } from '../kit/model/fields.ts';
import { allow, deny, anyone, memberOf, roleIn, system } from '../kit/model/policy.ts';

export const organization = defineEntityModule({
  kind: 'organization',
  table: 'organizations',
  description: 'Tenant: all data of a customer belongs to one organization.',
  fields: {
    name: text('Unique name.', { max: 160, min: 3 }),
    displayName: text('Display name; falls back to the name when empty.', { max: 160, optional: true }),
    description: text('Description of the organization.', { max: 2_000, optional: true }),
    parentId: reference('organization', 'Parent organization; its roles also apply in this organization.', {
      optional: true,
      immutable: true,
      onDelete: 'cascade',
      requires: 'edit',
      reverse: 'children',
    }),
    isPersonal: flag('Whether the organization was created at sign-up for one user.', {
      default: false,
      immutable: true,
    }),
  },
  unique: [{ fields: ['name'], message: 'An organization with this name already exists.' }],
  tenancy: { none: 'the organization is the tenant' },
  rlsUsing: `exists (select 1 from memberships m where m.organization_id = organizations.id
    and m.user_id = $user and m.deleted_at is null)`,
  rlsWithCheck: 'id = $organization',
  policy: {
    view: [allow(system), allow(memberOf('id')), deny(anyone)],
    create: [allow(system)],
    edit: [allow(system), allow(roleIn('id', 'owner', 'super_admin', 'admin'))],
    remove: [allow(system), allow(roleIn('id', 'owner'))],
  },
  expose: {
    name: 'read-write',
    displayName: 'read-write',
    description: 'read-write',
    parentId: 'read',
    isPersonal: 'read',
  },
  filter: ['name', 'displayName', 'parentId', 'isPersonal'],
  order: ['name', 'createdAt'],
  search: ['name', 'displayName'],
  mutate: ['update', 'delete'],
  events: ['created', 'updated', 'deleted'],
});

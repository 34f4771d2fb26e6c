import { defineEntityModule } from '../kit/model/define.ts';
import { flag, reference, singleLine, text } from '../kit/model/fields.ts';
import { allow, deny, anyone, memberOf, roleIn, system } from '../kit/model/policy.ts';
import { managerRoles } from '../presets/roles.ts';

export const organization = defineEntityModule({
  kind: 'organization',
  table: 'organizations',
  description: 'Tenant: all data of a customer belongs to one organization.',
  fields: {
    name: singleLine('Name; unique among the organizations that one user created.', { max: 160, min: 3 }),
    displayName: text('Display name; falls back to the name when empty.', { max: 160, optional: true }),
    description: text('Description of the organization.', { max: 2_000, optional: true }),
    parentId: reference('organization', 'Parent organization; its roles also apply in this organization.', {
      optional: true,
      immutable: true,
      onDelete: 'cascade',
      requires: 'edit',
      reverse: 'children',
    }),
    founderId: text('Id of the user who created the organization; null if the server did.', {
      max: 26,
      optional: true,
      immutable: true,
    }),
    isPersonal: flag('Whether the organization was created at sign-up for one user.', {
      default: false,
      immutable: true,
    }),
  },
  // Not unique among all: a refusal would tell everybody which organizations exist.
  unique: [{ fields: ['founderId', 'name'], message: 'You already created an organization with this name.' }],
  indexes: [['name']],
  tenancy: { none: 'the organization is the tenant' },
  rlsUsing: `exists (select 1 from memberships m where m.organization_id = organizations.id
    and m.user_id = $user and m.deleted_at is null)`,
  rlsWithCheck: 'id = $organization',
  confinedReach: 'organization',
  policy: {
    view: [allow(system), allow(memberOf('id')), deny(anyone)],
    create: [allow(system)],
    edit: [allow(system), allow(roleIn('id', ...managerRoles))],
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
  deletionNeedsProof: true,
  events: ['created', 'updated', 'deleted'],
});

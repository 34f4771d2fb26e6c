import { defineEntityModule } from './kit/define.ts';
import { flag, text } from './kit/fields.ts';
import { allow, anyone, deny, role, system } from './kit/policy.ts';

const managers = role('owner', 'super_admin', 'admin');

export const group = defineEntityModule({
  kind: 'group',
  table: 'groups',
  description: 'People of an organization who are given rights together.',
  fields: {
    name: text('Name, unique in the organization.', { min: 2, max: 160 }),
    displayName: text('Name shown to people; the name when empty.', { max: 64, optional: true }),
    description: text('What the group is for.', { max: 2_000, optional: true }),
    isManaged: flag('Kept by the server; people do not change it.', { default: false, immutable: true }),
  },
  displayId: 'GRP',
  unique: [{ fields: ['organizationId', 'name'], message: 'A group with this name exists already.' }],
  tenancy: 'organization',
  policy: {
    view: [allow(system), allow(role('owner', 'super_admin', 'admin', 'member', 'auditor')), deny(anyone)],
    create: [allow(system), allow(managers)],
    edit: [allow(system), allow(managers)],
    remove: [allow(system), allow(managers)],
  },
  expose: { name: 'read-write', displayName: 'read-write', description: 'read-write', isManaged: 'read' },
  filter: ['name', 'isManaged'],
  order: ['name', 'createdAt'],
  search: ['name', 'displayName'],
  mutate: ['create', 'update', 'delete'],
  events: ['created', 'updated', 'deleted'],
});

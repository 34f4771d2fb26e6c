import { Type } from 'typebox';
import { managedBy } from '../kit/behaviours/managed-by.ts';
import { refusesChanges } from '../kit/model/behaviours/refuses-changes.ts';
import { defineEntityModule } from '../kit/model/define.ts';
import { payload } from '../kit/model/events.ts';
import { choice, member, text } from '../kit/model/fields.ts';
import { allow, anyone, creators, deny, related, role, scope, system } from '../kit/model/policy.ts';

const requestId = Type.String({ description: 'Id of the request.' });
const userId = Type.String({ description: 'Id of the person who wants to join.' });

export const group = defineEntityModule({
  kind: 'group',
  table: 'groups',
  description: 'Group of users who receive permissions together.',
  fields: {
    name: text('Name; unique within the organization.', {
      min: 2,
      max: 160,
      exposed: 'read-write',
      lists: ['filter', 'order', 'search'],
    }),
    displayName: text('Display name; falls back to the name when empty.', {
      max: 64,
      optional: true,
      exposed: 'read-write',
      lists: ['search'],
    }),
    description: text('Purpose of the group.', { max: 2_000, lines: true, optional: true, exposed: 'read-write' }),
    managedAs: choice(
      'Members of a managed group: everybody with a role that manages the organization (admins), everybody with another role (viewers), or everybody (all_members). The server keeps the members in line with the roles; nobody can change or delete the group. Null for other groups.',
      ['admins', 'viewers', 'all_members'],
      { optional: true, immutable: true, exposed: 'read', lists: ['filter'] },
    ),
    managerId: member(
      'Person who manages the group without being in it: the person who created it with a role of a parent organization. Null for other groups.',
      { optional: true, immutable: true, onLeave: 'keep' },
    ),
  },
  displayId: 'GRP',
  unique: [
    { fields: ['organizationId', 'name'], comparedAsName: 'name', message: 'A group with this name already exists.' },
    { fields: ['organizationId', 'managedAs'], message: 'The organization has this managed group already.' },
  ],
  tenancy: 'organization',
  policy: {
    view: [
      allow(system),
      allow(role('owner', 'super_admin')),
      allow(scope),
      allow(related('admin', 'manager', 'member', 'viewer')),
      deny(anyone),
    ],
    create: [allow(system), allow(role('owner', 'super_admin', 'admin')), allow(scope), allow(creators)],
    edit: [allow(system), allow(role('owner', 'super_admin')), allow(scope), allow(related('admin', 'manager'))],
    remove: [allow(system), allow(role('owner', 'super_admin')), allow(scope), allow(related('admin', 'manager'))],
  },
  behaviours: [
    refusesChanges([
      {
        on: ['edit', 'remove'],
        unlessSystem: true,
        refuseIf: 'row.managed_as is not null',
        field: 'managedAs',
        code: 'permission_denied',
        message:
          'The group is managed by the server: its members follow their roles in the organization. Create another group instead.',
      },
    ]),
    managedBy({
      kind: 'groupMembership',
      record: 'groupId',
      person: 'userId',
      values: { role: 'admin' },
      outside: 'managerId',
    }),
  ],
  mutate: ['create', 'update', 'delete'],
  events: ['created', 'updated', 'deleted'],
  customEvents: {
    join_requested: {
      description: 'Somebody asked to join a group.',
      payload: payload({ requestId, userId }),
    },
    join_decided: {
      description: 'A manager of a group answered the request of somebody to join it.',
      payload: payload({
        requestId,
        userId,
        status: Type.Union([Type.Literal('accepted'), Type.Literal('declined')], {
          description: 'Whether the request was accepted or declined.',
        }),
      }),
    },
  },
  grants: [{ object: { kind: 'group', id: 'id' }, relation: 'manager', subject: { kind: 'user', id: 'managerId' } }],
});

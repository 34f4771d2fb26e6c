import { defineEntityModule } from '../kit/model/define.ts';
import { choice, member, reference, text } from '../kit/model/fields.ts';
import { allow, anyone, deny, role, self, system } from '../kit/model/policy.ts';

export const maxMessageLength = 500;

/** Made and decided by the actions in api/actions/groups/, which decide who may: managers of the group are no people whom rules of this kind know. */
export const groupJoinRequest = defineEntityModule({
  kind: 'groupJoinRequest',
  table: 'group_join_requests',
  description:
    'Request of a person to join a group. Managers of the group accept or decline it, and the person can withdraw it.',
  fields: {
    groupId: reference('group', 'Group that the person wants to join.', {
      immutable: true,
      onDelete: 'cascade',
      exposed: 'read',
      lists: ['filter'],
    }),
    userId: member('Person who wants to join.', {
      immutable: true,
      onLeave: 'cascade',
      reverse: 'groupJoinRequests',
      exposed: 'read',
      lists: ['filter'],
    }),
    message: text('Why the person wants to join.', {
      max: maxMessageLength,
      lines: true,
      optional: true,
      immutable: true,
      exposed: 'read',
    }),
    status: choice('Status of the request.', ['pending', 'accepted', 'declined', 'withdrawn'], {
      default: 'pending',
      exposed: 'read',
      lists: ['filter'],
    }),
    deciderId: member('Person who accepted or declined it.', {
      optional: true,
      onLeave: 'keep',
      reverse: 'decidedGroupJoinRequests',
      exposed: 'read',
    }),
    openFor: text('`userId` while the request is pending; null afterwards: the person can ask again.', {
      max: 26,
      optional: true,
    }),
  },
  unique: [
    {
      fields: ['groupId', 'openFor'],
      names: 'groupId',
      message: 'You have asked to join this group already; its managers have not answered yet.',
    },
  ],
  tenancy: 'organization',
  policy: {
    view: [allow(system), allow(role('owner', 'super_admin')), allow(self('userId')), deny(anyone)],
    create: [allow(system)],
    edit: [allow(system)],
    remove: [allow(system)],
  },
  events: ['created', 'updated', 'deleted'],
  hooks: {
    derivedValues: ({ userId, status }, { operation }) => {
      if (operation === 'create') return { openFor: userId ?? null };
      return status === undefined || status === 'pending' ? {} : { openFor: null };
    },
  },
});

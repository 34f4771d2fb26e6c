import { groupMembership } from '#entities/groups/group-membership.ts';
import { group } from '#entities/groups/group.ts';
import { maxManagers, membersWith } from '../audience.ts';
import { defineNotification } from '../define-notification.ts';

/** Notifies the people who can answer: the managers of the group, or the owners of the organization where there are none. */
export const groupJoinRequested = defineNotification(group, 'join_requested', {
  listener: 'notify-join-requested',
  description: 'the managers of a group, else the owners: somebody asks to join it',
  audience: async ({ record: { id, managerId }, unit }) => {
    const admins = await unit.data.find(groupMembership, {
      where: { groupId: { eq: id }, role: { eq: 'admin' } },
      limit: maxManagers,
    });
    const managers = [...admins.map(({ userId }) => userId), ...(managerId === null ? [] : [managerId])];
    return managers.length > 0 ? managers.map((userId) => ({ userId })) : membersWith(unit, ['owner'], maxManagers);
  },
  text: {
    title: '{{actor}} asks to join a group',
    body: ['{{group}}', 'Accept or decline the request.'],
    many: '{{count}} people ask to join groups',
  },
  values:
    ({ record: { name }, actorName }) =>
    () => ({ actor: actorName, group: name }),
  sample: { actor: 'Ann Example', group: 'Risk owners' },
  link: ({ id }) => `/groups/${id}`,
  unsubscribesFrom: 'requests to join groups',
});

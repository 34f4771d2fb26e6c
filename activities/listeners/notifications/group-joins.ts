import { groupMembership } from '#entities/groups/group-membership.ts';
import { group } from '#entities/groups/group.ts';
import { membership } from '#entities/organizations/membership.ts';
import { defineNotification } from './define-notification.ts';

/** Maximum number of people who are notified of a request. */
const maxManagers = 100;

const link = ({ id }: { readonly id: string }) => `/groups/${id}`;

/** Notifies the people who can answer: the managers of the group, or the owners of the organization where there are none. */
export const joinRequested = defineNotification(group, 'join_requested', {
  listener: 'notify-join-requested',
  audience: async ({ record: { id, managerId }, unit }) => {
    const admins = await unit.data.find(groupMembership, {
      where: { groupId: { eq: id }, role: { eq: 'admin' } },
      limit: maxManagers,
    });
    const managers = [...admins.map(({ userId }) => userId), ...(managerId === null ? [] : [managerId])];
    if (managers.length > 0) return managers;
    const owners = await unit.data.find(membership, { where: { role: { eq: 'owner' } }, limit: maxManagers });
    return owners.map(({ userId }) => userId);
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
  link,
  channels: ['email'],
});

const outcomes = { accepted: 'You are a member now.', declined: 'Your request was declined.' } as const;

/** Notifies the person who asked. */
export const joinDecided = defineNotification(group, 'join_decided', {
  listener: 'notify-join-decided',
  audience: ({ payload: { userId } }) => [userId],
  text: {
    title: '{{actor}} answered your request to join a group',
    body: ['{{group}}', '{{outcome}}'],
    many: '{{count}} of your requests to join groups were answered',
  },
  values:
    ({ record: { name }, payload: { status }, actorName }) =>
    () => ({ actor: actorName, group: name, outcome: outcomes[status] }),
  sample: { actor: 'Ann Example', group: 'Risk owners', outcome: outcomes.accepted },
  link,
  channels: ['email'],
});

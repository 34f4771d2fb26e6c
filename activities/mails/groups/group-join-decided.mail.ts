import { group } from '#entities/groups/group.ts';
import { personOfPayload } from '../audience.ts';
import { defineNotification } from '../define-notification.ts';

const outcomes = { accepted: 'You are a member now.', declined: 'Your request was declined.' } as const;

export const groupJoinDecided = defineNotification(group, 'join_decided', {
  listener: 'notify-join-decided',
  description: 'the person who asked to join a group: the answer',
  audience: personOfPayload,
  text: {
    title: '{{actor}} answered your request to join a group',
    body: ['{{group}}', '{{outcome}}'],
    many: '{{count}} of your requests to join groups were answered',
  },
  values:
    ({ record: { name }, event: { payload }, actorName }) =>
    () => ({ actor: actorName, group: name, outcome: outcomes[payload.status] }),
  sample: { actor: 'Ann Example', group: 'Risk owners', outcome: outcomes.accepted },
  link: ({ id }) => `/groups/${id}`,
  unsubscribesFrom: 'answers to your requests to join groups',
});

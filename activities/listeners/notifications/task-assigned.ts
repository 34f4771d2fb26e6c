import { task } from '#entities/work/task.ts';
import { defineNotification } from './define-notification.ts';

export const taskAssigned = defineNotification(task, 'assigned', {
  listener: 'notify-assigned',
  audience: ({ record: { assigneeId, externalId }, payload: { userId }, actor }) => {
    // The tasks that come with an organization are told of together (organization-ready.ts).
    const isSuggestion = actor.startsWith('system:') && externalId?.startsWith('onboarding/');
    // Given to somebody else since.
    return isSuggestion || assigneeId !== userId ? [] : [userId];
  },
  text: { title: 'A task was assigned to you', body: '{{displayId}}: {{title}}' },
  values: ({ record: { displayId, title } }) => ({ displayId, title }),
  sample: { displayId: 'TSK-7', title: 'Review the access rights' },
  link: ({ id }) => `/tasks/${id}`,
  channels: ['email'],
});

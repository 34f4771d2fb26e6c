import { withoutMarkup } from '#entities/kit/model/mentions.ts';
import { note } from '#entities/work/note.ts';
import { task } from '#entities/work/task.ts';
import { defineNotification } from './define-notification.ts';

export const mentionedInTask = defineNotification(task, 'mentioned', {
  listener: 'notify-mentioned-in-task',
  audience: ({ payload }) => payload.userIds,
  text: { title: 'You were mentioned in a task', body: '{{displayId}}: {{title}}' },
  values: ({ record: { displayId, title } }) => ({ displayId, title }),
  sample: { displayId: 'TSK-7', title: 'Review the access rights' },
  link: ({ id }) => `/tasks/${id}`,
  channels: ['email'],
});

export const mentionedInNote = defineNotification(note, 'mentioned', {
  listener: 'notify-mentioned-in-note',
  audience: ({ payload }) => payload.userIds,
  text: { title: 'You were mentioned in a comment', body: '{{text}}' },
  values: ({ record }) => ({ text: withoutMarkup(record.text) }),
  sample: { text: '@Jo, can you look at this?' },
  link: ({ id }) => `/notes/${id}`,
  channels: ['email'],
});

import { task } from '#entities/work/task.ts';
import { defineNotification } from '../define-notification.ts';
import { isEnded, pageOfTask, taskLines, taskSample, taskValues } from '../task-text.ts';

export const taskAssigned = defineNotification(task, 'assigned', {
  listener: 'notify-assigned',
  description: 'the person to whom a task was given',
  audience: ({ record: { assigneeId, externalId }, event: { actor, payload } }) => {
    const { userId } = payload;
    // The tasks that come with an organization have one notification together (organization-ready.mail.ts).
    const isSuggestion = actor.startsWith('system:') && externalId?.startsWith('onboarding/');
    // Given to somebody else since.
    return isSuggestion || assigneeId !== userId ? [] : [{ userId }];
  },
  text: {
    title: '{{actor}} assigned a task to you',
    body: taskLines,
    many: '{{count}} tasks were assigned to you',
  },
  values: ({ record, actorName }) => {
    const valuesOf = taskValues(record);
    return (locale) => ({ actor: actorName, ...valuesOf(locale) });
  },
  stillApplies: ({ assigneeId, status }, { userId }) => assigneeId === userId && !isEnded(status),
  sample: { actor: 'Ann Example', ...taskSample },
  link: pageOfTask,
  unsubscribesFrom: 'tasks that are assigned to you',
});

import { task } from '#entities/work/task.ts';
import { peopleOfPayload } from '../audience.ts';
import { defineNotification } from '../define-notification.ts';
import { pageOfTask, taskLines, taskSample, taskValues } from '../task-text.ts';

export const taskMentioned = defineNotification(task, 'mentioned', {
  listener: 'notify-mentioned-in-task',
  description: 'people whom a task mentions',
  audience: peopleOfPayload,
  text: {
    title: '{{actor}} mentioned you in a task',
    body: taskLines,
    many: 'You were mentioned in {{count}} tasks',
  },
  values: ({ record, actorName }) => {
    const valuesOf = taskValues(record);
    return (locale) => ({ actor: actorName, ...valuesOf(locale) });
  },
  sample: { actor: 'Ann Example', ...taskSample },
  link: pageOfTask,
  unsubscribesFrom: 'mentions of you in tasks',
});

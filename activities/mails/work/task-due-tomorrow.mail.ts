import { taskDueNotification } from '../task-due.ts';

export const taskDueTomorrow = taskDueNotification('due_tomorrow', {
  description: 'the assignee: the task is due tomorrow',
  title: 'A task is due tomorrow',
  many: '{{count}} tasks are due tomorrow',
  unsubscribesFrom: 'tasks that are due tomorrow',
});

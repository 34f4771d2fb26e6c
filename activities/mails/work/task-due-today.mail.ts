import { taskDueNotification } from '../task-due.ts';

export const taskDueToday = taskDueNotification('due_today', {
  description: 'the assignee: the task is due today',
  title: 'A task is due today',
  many: '{{count}} tasks are due today',
  unsubscribesFrom: 'tasks that are due today',
});

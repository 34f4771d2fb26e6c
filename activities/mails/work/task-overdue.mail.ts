import { taskDueNotification } from '../task-due.ts';

export const taskOverdue = taskDueNotification('overdue', {
  description: 'assignee and assigner: the due date has passed',
  title: 'A task is overdue',
  many: '{{count}} tasks are overdue',
  unsubscribesFrom: 'tasks that are overdue',
});

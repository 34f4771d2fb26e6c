import { reminderStages, type ReminderStage } from '#entities/work/task-reminder-rows.ts';
import type { RowOf } from '#entities/kit/model/define.ts';
import { task } from '#entities/work/task.ts';
import { dueStage } from './due-stage.ts';
import { defineNotification, type Reader } from './define-notification.ts';
import { isEnded, pageOfTask, taskLines, taskSample, taskValues } from './task-text.ts';

type Task = RowOf<typeof task>;

const texts: Readonly<Record<ReminderStage, { readonly title: string; readonly many: string }>> = {
  due_tomorrow: { title: 'A task is due tomorrow', many: '{{count}} tasks are due tomorrow' },
  due_today: { title: 'A task is due today', many: '{{count}} tasks are due today' },
  overdue: { title: 'A task is overdue', many: '{{count}} tasks are overdue' },
};

/** People who are reminded: the assignee, and of an overdue task the person who requested it. */
function remindedOf({ status, assigneeId, assignerId }: Task, stage: ReminderStage): string[] {
  if (isEnded(status)) return [];
  return [assigneeId, stage === 'overdue' ? assignerId : null].filter((id) => id !== null);
}

/** Reminders of tasks (activities/notifications/remind-page.ts). */
export const tasksDue = reminderStages.map((stage) =>
  defineNotification(task, stage, {
    listener: `notify-${stage.replace('_', '-')}`,
    audience: ({ record, payload }) =>
      // Moved to another date since.
      record.dueAt?.getTime() === Date.parse(payload.dueAt) ? remindedOf(record, stage) : [],
    text: { ...texts[stage], body: taskLines },
    values: ({ record }) => taskValues(record),
    stillApplies: (record, { userId, timeZone, now }: Reader) =>
      record.dueAt !== null &&
      remindedOf(record, stage).includes(userId) &&
      dueStage(record.dueAt, now, timeZone) === stage,
    sample: taskSample,
    link: pageOfTask,
    channels: ['email'],
  }),
);

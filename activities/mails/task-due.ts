import type { ReminderStage } from '#entities/work/task-reminder-rows.ts';
import type { RowOf } from '#entities/kit/model/define.ts';
import { task } from '#entities/work/task.ts';
import { dueStage } from './due-stage.ts';
import { defineNotification, type NotificationKind, type NotificationText } from './define-notification.ts';
import { isEnded, pageOfTask, taskLines, taskSample, taskValues } from './task-text.ts';

type Task = RowOf<typeof task>;

/** People who are reminded: the assignee, and of an overdue task the person who requested it. */
function remindedOf({ status, assigneeId, assignerId }: Task, stage: ReminderStage): string[] {
  if (isEnded(status)) return [];
  return [assigneeId, stage === 'overdue' ? assignerId : null].filter((id) => id !== null);
}

/** A reminder of tasks (activities/notifications/remind-page.ts). */
export function taskDueNotification(
  stage: ReminderStage,
  {
    title,
    many,
    ...texts
  }: Pick<NotificationText, 'title' | 'many'> & Pick<NotificationKind, 'description' | 'unsubscribesFrom'>,
): NotificationKind {
  return defineNotification(task, stage, {
    ...texts,
    listener: `notify-${stage.replace('_', '-')}`,
    audience: ({ record, event: { payload } }) =>
      // Moved to another date since.
      record.dueAt?.getTime() === Date.parse(payload.dueAt)
        ? remindedOf(record, stage).map((userId) => ({ userId }))
        : [],
    text: { title, many, body: taskLines },
    values: ({ record }) => taskValues(record),
    stillApplies: (record, { userId, timeZone, now }) =>
      record.dueAt !== null &&
      remindedOf(record, stage).includes(userId) &&
      dueStage(record.dueAt, now, timeZone) === stage,
    sample: taskSample,
    link: pageOfTask,
  });
}

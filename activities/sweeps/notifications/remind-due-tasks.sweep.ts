import { task } from '#entities/work/task.ts';
import { addReminder, dueTasks } from '#entities/work/task-reminder-rows.ts';
import { customEvent } from '#entities/kit/write/custom-events.ts';
import { maintenanceQueue } from '#workflows/kit/maintenance-queue.ts';
import { reminderStage } from '../../mails/due-stage.ts';
import { defineSweep } from '../define-sweep.ts';

/**
 * Announces open tasks that are due tomorrow or today or are overdue, each stage of a due date once: a row says so, in the transaction of
 * the event. Listeners notify the people.
 */
export const remindDueTasksSweep = defineSweep({
  name: 'remindDueTasks',
  description: 'Announces tasks that are due tomorrow or today, or are overdue.',
  queue: maintenanceQueue,
  every: 300_000,
  find: (unit, { after: [dueAt = '', id = ''] = [], ...selection }) =>
    dueTasks(unit, { ...selection, ...(dueAt === '' ? {} : { after: { dueAt: new Date(dueAt), id } }) }),
  position: ({ dueAt, id }) => [dueAt.toISOString(), id],
  lock: ({ data }, id) => data.findLocked(task, id),
  decide: ({ dueAt, timeZone, reminded }, { now }) => {
    const stage = reminderStage(dueAt, now, timeZone);
    if (stage === undefined) return { action: null, reason: 'not due yet' };
    return reminded.includes(stage)
      ? { action: null, reason: 'announced before' }
      : { action: stage, reason: 'due in the time zone of its assignee' };
  },
  act: async (unit, held, stage, { now }) => {
    await addReminder(unit, { task: held, stage }, now);
    unit.emit(customEvent(task, stage, held, { dueAt: held.dueAt.toISOString() }));
  },
});

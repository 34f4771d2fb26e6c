import { addReminders, dueTasks, type DueCursor, type Reminder } from '#entities/work/task-reminder-rows.ts';
import type { UnitOfWork } from '#entities/kit/unit/unit-of-work.ts';
import { customEvent } from '#entities/kit/write/custom-events.ts';
import { task } from '#entities/work/task.ts';
import { reminderStage } from '../mails/due-stage.ts';

/** Tasks that one transaction looks at. */
const pageSize = 500;

export interface RemindedPage {
  readonly reminded: number;
  /** Undefined after the last page. */
  readonly next: DueCursor | undefined;
}

/**
 * Announces the open tasks of a page that are due tomorrow or today or are overdue, each stage of a due date once: a row says so, in the
 * transaction of the event. Listeners notify the people.
 */
export async function remindPage(unit: UnitOfWork, after: DueCursor | undefined): Promise<RemindedPage> {
  const found = await dueTasks(unit, after, pageSize);
  const now = unit.clock.now();
  const due = found.flatMap((held): Reminder[] => {
    const stage = reminderStage(held.dueAt, now, held.timeZone);
    return stage === undefined || held.reminded.includes(stage) ? [] : [{ task: held, stage }];
  });
  const added = await addReminders(unit, due);
  for (const { task: held, stage } of added)
    unit.emit(customEvent(task, stage, held, { dueAt: held.dueAt.toISOString() }));
  return { reminded: added.length, next: found.length < pageSize ? undefined : found.at(-1) };
}

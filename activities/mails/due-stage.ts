import { Temporal } from 'temporal-polyfill';
import type { ReminderStage } from '#entities/work/task-reminder-rows.ts';
import { firstInstant } from './local-time.ts';

/** Time of day from which people are reminded of a day: before the digests of the day are sent. */
const reminderTime = Temporal.PlainTime.from('07:00');

/** How a due date is to be called now, in a time zone; undefined while it is further ahead. */
export function dueStage(dueAt: Date, now: Date, timeZone: string): ReminderStage | undefined {
  if (dueAt <= now) return 'overdue';
  const days = dayOf(now, timeZone).until(dayOf(dueAt, timeZone)).days;
  return ([`due_today`, `due_tomorrow`] as const)[days];
}

/**
 * The same, and undefined before the time of day from which people are notified. A task that is overdue, or due before that time, is
 * announced at any time.
 */
export function reminderStage(dueAt: Date, now: Date, timeZone: string): ReminderStage | undefined {
  const stage = dueStage(dueAt, now, timeZone);
  const beginsAt = firstInstant(dayOf(now, timeZone), reminderTime, timeZone);
  return stage === 'overdue' || now >= beginsAt || dueAt <= beginsAt ? stage : undefined;
}

function dayOf(at: Date, timeZone: string): Temporal.PlainDate {
  return Temporal.Instant.fromEpochMilliseconds(at.getTime()).toZonedDateTimeISO(timeZone).toPlainDate();
}

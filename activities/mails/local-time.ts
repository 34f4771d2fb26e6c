import { Temporal } from 'temporal-polyfill';

/** The time of day that clocks show. @param timeZone name in the IANA database */
export function timeOfDay(at: Date, timeZone: string): Temporal.PlainTime {
  return zoned(at, timeZone).toPlainTime();
}

function zoned(at: Date, timeZone: string): Temporal.ZonedDateTime {
  return Temporal.Instant.fromEpochMilliseconds(at.getTime()).toZonedDateTimeISO(timeZone);
}

function dateOf({ epochMilliseconds }: Temporal.ZonedDateTime): Date {
  return new Date(epochMilliseconds);
}

/**
 * The instants at which clocks show something, in order: two where they are set back, and where they are set forward over it, the instant at
 * which that happens.
 */
function instantsOf(wall: Temporal.PlainDateTime, timeZone: string): Date[] {
  const earlier = wall.toZonedDateTime(timeZone, { disambiguation: 'earlier' });
  const later = wall.toZonedDateTime(timeZone, { disambiguation: 'later' });
  if (earlier.equals(later)) return [dateOf(earlier)];
  if (earlier.toPlainDateTime().equals(wall)) return [dateOf(earlier), dateOf(later)];
  return [dateOf(later.getTimeZoneTransition('previous') ?? later)];
}

/** The first instant after another at which clocks show a time of day. */
export function nextTimeOfDay(time: Temporal.PlainTime, timeZone: string, after: Date): Date {
  const today = zoned(after, timeZone).toPlainDate();
  const found = [-1, 0, 1, 2]
    .flatMap((days) => instantsOf(today.add({ days }).toPlainDateTime(time), timeZone))
    .find((at) => at > after);
  // Every day of clocks has the time once at least, or an instant at which it is skipped.
  if (!found) throw new RangeError(`no clock of ${timeZone} shows ${time.toString()} within two days`);
  return found;
}

/** A day, week or month of collected messages. */
export interface Period {
  /** The day on which they are sent, as YYYY-MM-DD. */
  readonly name: string;
  readonly sentAt: Date;
}

/** Time of day at which collected messages are sent, and people are reminded. */
export const sendingTime = Temporal.PlainTime.from('08:00');

/** The last sending day that is not after a day, and the distance of the next one. */
const cadences = {
  daily: { begin: (day: Temporal.PlainDate) => day, length: { days: 1 } },
  weekly: { begin: (day: Temporal.PlainDate) => day.subtract({ days: day.dayOfWeek - 1 }), length: { weeks: 1 } },
  monthly: { begin: (day: Temporal.PlainDate) => day.with({ day: 1 }), length: { months: 1 } },
} as const;

export type DigestCadence = keyof typeof cadences;

/** The first period whose messages are sent after an instant: on a day, a Monday, or the first of a month, at 8 o'clock. */
export function nextPeriod(cadence: DigestCadence, timeZone: string, after: Date): Period {
  const { begin, length } = cadences[cadence];
  const day = begin(zoned(after, timeZone).toPlainDate());
  const current = periodOf(day, timeZone);
  return current.sentAt > after ? current : periodOf(day.add(length), timeZone);
}

/** The last period whose messages are sent at an instant or before. */
export function lastPeriod(cadence: DigestCadence, timeZone: string, at: Date): Period {
  const { begin, length } = cadences[cadence];
  const day = begin(zoned(at, timeZone).toPlainDate());
  const current = periodOf(day, timeZone);
  return current.sentAt <= at ? current : periodOf(day.subtract(length), timeZone);
}

function periodOf(day: Temporal.PlainDate, timeZone: string): Period {
  return { name: day.toString(), sentAt: firstInstant(day, sendingTime, timeZone) };
}

/** The first instant of a day at which clocks show a time, or skip it. */
export function firstInstant(day: Temporal.PlainDate, time: Temporal.PlainTime, timeZone: string): Date {
  const [first] = instantsOf(day.toPlainDateTime(time), timeZone);
  if (!first) throw new RangeError(`no clock of ${timeZone} shows ${time.toString()} on ${day.toString()}`);
  return first;
}

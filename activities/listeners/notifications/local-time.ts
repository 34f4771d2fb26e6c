const dayMs = 86_400_000;

const formats = new Map<string, Intl.DateTimeFormat>();

/** A format is expensive to make; there are as many as time zones. */
function formatOf(timeZone: string): Intl.DateTimeFormat {
  const known = formats.get(timeZone);
  if (known) return known;
  const made = new Intl.DateTimeFormat('en-US', {
    timeZone,
    hourCycle: 'h23',
    year: 'numeric',
    month: 'numeric',
    day: 'numeric',
    hour: 'numeric',
    minute: 'numeric',
    second: 'numeric',
  });
  formats.set(timeZone, made);
  return made;
}

/**
 * What clocks show at an instant, as the milliseconds since 1970 at which clocks in UTC show the same. The milliseconds of one day of
 * clocks are those from 0 to 86,400,000 behind a multiple of it.
 * @param timeZone name in the IANA database
 */
export function wallClock(at: Date, timeZone: string): number {
  const parts = Object.fromEntries(
    formatOf(timeZone)
      .formatToParts(at)
      .map(({ type, value }) => [type, Number(value)]),
  );
  const { year = 0, month = 1, day = 0, hour = 0, minute = 0, second = 0 } = parts;
  return Date.UTC(year, month - 1, day, hour, minute, second);
}

/** The time of day that clocks show, in milliseconds. */
export function timeOfDay(at: Date, timeZone: string): number {
  return wallClock(at, timeZone) % dayMs;
}

/**
 * The instants at which clocks show something, in order: two where they are set back, and where they are set forward over it, the instant at
 * which that happens.
 */
function instantsOf(wall: number, timeZone: string): Date[] {
  const offsetAt = (at: number) => wallClock(new Date(at), timeZone) - at;
  const offsets = [...new Set([offsetAt(wall - dayMs), offsetAt(wall + dayMs)])].toSorted((a, b) => b - a);
  const shown = offsets.filter((offset) => offsetAt(wall - offset) === offset).map((offset) => new Date(wall - offset));
  if (shown.length > 0) return shown;
  let [before, after] = [wall - Math.max(...offsets), wall - Math.min(...offsets)];
  while (after - before > 1_000) {
    const middle = Math.floor((before + after) / 2_000) * 1_000;
    if (wallClock(new Date(middle), timeZone) < wall) before = middle;
    else after = middle;
  }
  return [new Date(after)];
}

/** The first instant after another at which clocks show a time of day. @param time in milliseconds */
export function nextTimeOfDay(time: number, timeZone: string, after: Date): Date {
  const found = nearDays(after, timeZone, [-1, 0, 1, 2])
    .flatMap((day) => instantsOf(day + time, timeZone))
    .find((at) => at > after);
  // Every day of clocks has the time once at least, or an instant at which it is skipped.
  if (!found) throw new RangeError(`no clock of ${timeZone} shows ${time} within two days`);
  return found;
}

/** The days of clocks around an instant. @param distances in days */
function nearDays(at: Date, timeZone: string, distances: readonly number[]): number[] {
  const today = Math.floor(wallClock(at, timeZone) / dayMs) * dayMs;
  return distances.map((distance) => today + distance * dayMs);
}

/** A day, week or month of collected messages. */
export interface Period {
  /** The day on which they are sent, as YYYY-MM-DD. */
  readonly name: string;
  readonly sentAt: Date;
}

/** Time of day at which collected messages are sent, in milliseconds. */
const sendingTime = 8 * 3_600_000;

/** Longest distance between two of them, in days. */
const maxDistance = 32;

const isSendingDay = {
  daily: () => true,
  weekly: (day: Date) => day.getUTCDay() === 1,
  monthly: (day: Date) => day.getUTCDate() === 1,
} as const satisfies Record<string, (day: Date) => boolean>;

export type DigestCadence = keyof typeof isSendingDay;

const forward = Array.from({ length: maxDistance + 1 }, (_, index) => index);
const back = forward.map((distance) => -distance);

/** The first period whose messages are sent after an instant: on a day, a Monday, or the first of a month, at 8 o'clock. */
export function nextPeriod(cadence: DigestCadence, timeZone: string, after: Date): Period {
  return periodAmong(forward, cadence, timeZone, after, (sentAt) => sentAt > after);
}

/** The last period whose messages are sent at an instant or before. */
export function lastPeriod(cadence: DigestCadence, timeZone: string, at: Date): Period {
  return periodAmong(back, cadence, timeZone, at, (sentAt) => sentAt <= at);
}

function periodAmong(
  distances: readonly number[],
  cadence: DigestCadence,
  timeZone: string,
  near: Date,
  fits: (sentAt: Date) => boolean,
): Period {
  for (const day of nearDays(near, timeZone, distances)) {
    if (!isSendingDay[cadence](new Date(day))) continue;
    const [sentAt] = instantsOf(day + sendingTime, timeZone);
    if (sentAt && fits(sentAt)) return { name: new Date(day).toISOString().slice(0, 10), sentAt };
  }
  throw new RangeError(`no ${cadence} period of ${timeZone} within ${maxDistance} days`);
}

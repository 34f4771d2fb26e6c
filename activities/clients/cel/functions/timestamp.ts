import { CelFailure } from '../meter.ts';

const form = /^(\d{4})-(\d\d)-(\d\d)T(\d\d):(\d\d):(\d\d)(\.\d{1,9})?(Z|[+-]\d\d:\d\d)$/;
const earliest = -62_135_596_800_000;
const latest = 253_402_300_799_999;

/** A timestamp of RFC 3339 in the years 1 to 9999, to the millisecond; undefined for another text. */
export function parseTimestamp(text: string): Date | undefined {
  const [, year = '', month = '', day = '', hours = '', minutes = '', seconds = ''] = form.exec(text) ?? [];
  if (year === '' || Number(hours) > 23 || Number(minutes) > 59 || Number(seconds) > 59) return undefined;
  const date = new Date(text);
  const written = new Date(`${year}-${month}-${day}T00:00:00Z`);
  // The parser of JavaScript accepts 31 February.
  if (written.getUTCDate() !== Number(day)) return undefined;
  return isInRange(date) ? date : undefined;
}

function isInRange(date: Date): boolean {
  return date.getTime() >= earliest && date.getTime() <= latest;
}

/** @throws CelFailure overflow */
export function timestampOf(milliseconds: number): Date {
  const date = new Date(milliseconds);
  if (!isInRange(date)) throw new CelFailure('overflow', 'The timestamp is outside of the years 1 to 9999.');
  return date;
}

/** As RFC 3339 in UTC, without zeros at the end of the fraction. */
export function timestampText(date: Date): string {
  return date.toISOString().replace(/\.(\d*?)0*Z$/, (_, digits: string) => (digits === '' ? 'Z' : `.${digits}Z`));
}

const zones = new Map<string, Intl.DateTimeFormat>();

/** Zones that are kept. */
const maxZones = 100;

/** The date on the clocks of a zone: a name of the IANA database or an offset such as `+05:30`. @throws CelFailure invalid_argument */
function localTime(date: Date, zone: string): Date {
  const [, sign, hours, minutes] = /^([+-]?)(\d\d?):(\d\d)$/.exec(zone) ?? [];
  if (hours !== undefined && minutes !== undefined)
    return new Date(date.getTime() + (sign === '-' ? -1 : 1) * (Number(hours) * 60 + Number(minutes)) * 60_000);
  const parts = new Map(
    zoneFormat(zone)
      .formatToParts(date)
      .map(({ type, value }) => [type, Number(value)]),
  );
  const part = (name: Intl.DateTimeFormatPartTypes) => parts.get(name) ?? 0;
  const local = new Date(0);
  local.setUTCFullYear(part('year'), part('month') - 1, part('day'));
  local.setUTCHours(part('hour'), part('minute'), part('second'), date.getUTCMilliseconds());
  return local;
}

function zoneFormat(zone: string): Intl.DateTimeFormat {
  const known = zones.get(zone);
  if (known !== undefined) return known;
  if (zones.size >= maxZones) zones.clear();
  try {
    const numeric = 'numeric';
    const format = new Intl.DateTimeFormat('en-US-u-ca-iso8601-nu-latn', {
      timeZone: zone,
      hourCycle: 'h23',
      year: numeric,
      month: numeric,
      day: numeric,
      hour: numeric,
      minute: numeric,
      second: numeric,
    });
    zones.set(zone, format);
    return format;
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    throw new CelFailure('invalid_argument', 'The text is no time zone.');
  }
}

const parts: Readonly<Record<string, (local: Date) => number>> = {
  getFullYear: (local) => local.getUTCFullYear(),
  getMonth: (local) => local.getUTCMonth(),
  getDate: (local) => local.getUTCDate(),
  getDayOfMonth: (local) => local.getUTCDate() - 1,
  getDayOfWeek: (local) => local.getUTCDay(),
  getDayOfYear: (local) => Math.floor((local.getTime() - startOfYear(local)) / 86_400_000),
  getHours: (local) => local.getUTCHours(),
  getMinutes: (local) => local.getUTCMinutes(),
  getSeconds: (local) => local.getUTCSeconds(),
  getMilliseconds: (local) => local.getUTCMilliseconds(),
};

function startOfYear(date: Date): number {
  const start = new Date(0);
  start.setUTCFullYear(date.getUTCFullYear(), 0, 1);
  return start.getTime();
}

/** Parts of a timestamp, in UTC or in a zone; months, days of months, of weeks and of years begin with 0, `getDate` with 1. */
export const timestampParts: Readonly<Record<string, (date: Date, zone?: string) => bigint>> = Object.fromEntries(
  Object.entries(parts).map(([name, part]) => [
    name,
    (date: Date, zone?: string) => BigInt(part(zone === undefined ? date : localTime(date, zone))),
  ]),
);

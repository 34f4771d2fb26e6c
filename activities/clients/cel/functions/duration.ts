import { Duration } from 'cel-js/evaluator';
import { CelFailure } from '../meter.ts';

const nanosecondsOf: Readonly<Record<string, bigint>> = {
  h: 3_600_000_000_000n,
  m: 60_000_000_000n,
  s: 1_000_000_000n,
  ms: 1_000_000n,
  us: 1000n,
  µs: 1000n,
  ns: 1n,
};
const second = 1_000_000_000n;

/** About 10,000 years, as in the protobuf type. */
const maxSeconds = 315_576_000_000n;

/** A duration such as `1h30m`, `-1.5s` or `0`; undefined for another text. */
export function parseDuration(text: string): Duration | undefined {
  if (text.length > 100 || !/^[+-]?(?:0|(?:(?:\d+(?:\.\d*)?|\.\d+)(?:h|ms|m|s|us|µs|ns))+)$/.test(text))
    return undefined;
  let total = 0n;
  for (const [, whole = '', fraction = '', unit = ''] of text.matchAll(/(\d*)\.?(\d*)(h|ms|m|s|us|µs|ns)/g)) {
    const size = nanosecondsOf[unit] ?? 0n;
    total += BigInt(whole || '0') * size + (BigInt(fraction || '0') * size) / 10n ** BigInt(fraction.length);
  }
  const signed = text.startsWith('-') ? -total : total;
  return isInRange(signed) ? durationOf(signed) : undefined;
}

/** @throws CelFailure overflow */
export function durationOf(nanoseconds: bigint): Duration {
  if (!isInRange(nanoseconds)) throw new CelFailure('overflow', 'The duration is longer than 10,000 years.');
  return new Duration(nanoseconds / second, Number(nanoseconds % second));
}

function isInRange(nanoseconds: bigint): boolean {
  return nanoseconds / second <= maxSeconds && nanoseconds / second >= -maxSeconds;
}

export function nanosecondsIn(duration: Duration): bigint {
  return duration.seconds * second + BigInt(duration.nanos);
}

/** As in protobuf's JSON: `5400s`, `-1.5s`. */
export function durationText(duration: Duration): string {
  const total = nanosecondsIn(duration);
  const size = total < 0n ? -total : total;
  const fraction = `${size % second}`.padStart(9, '0').replace(/0+$/, '');
  return `${total < 0n ? '-' : ''}${size / second}${fraction === '' ? '' : `.${fraction}`}s`;
}

/** Parts of a duration: whole hours, minutes and seconds, and the milliseconds of the last second. */
export const durationParts: Readonly<Record<string, (duration: Duration) => bigint>> = {
  getHours: (duration) => duration.seconds / 3600n,
  getMinutes: (duration) => duration.seconds / 60n,
  getSeconds: (duration) => duration.seconds,
  getMilliseconds: (duration) => BigInt(Math.trunc(duration.nanos / 1_000_000)),
};

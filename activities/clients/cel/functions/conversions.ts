import { Duration, UnsignedInt } from 'cel-js/evaluator';
import { CelFailure } from '../meter.ts';
import { durationText, parseDuration } from './duration.ts';
import { parseTimestamp, timestampOf, timestampText } from './timestamp.ts';

const maxInt = 2n ** 63n - 1n;
const maxUint = 2n ** 64n - 1n;

/** @throws CelFailure overflow */
export function checkedInt(value: bigint): bigint {
  if (value > maxInt || value < -maxInt - 1n) throw new CelFailure('overflow', 'The value is no 64-bit integer.');
  return value;
}

function checkedUint(value: bigint): UnsignedInt {
  if (value < 0n || value > maxUint) throw new CelFailure('overflow', 'The value is no unsigned 64-bit integer.');
  return new UnsignedInt(value);
}

function refused(type: string): CelFailure {
  return new CelFailure('invalid_argument', `The value is no ${type}.`);
}

function wholeOf(value: number): bigint {
  if (!Number.isFinite(value)) throw new CelFailure('overflow', 'The value is no integer.');
  return BigInt(Math.trunc(value));
}

/** The largest double below the limit of a type: the limit itself is rounded up to one that is too large. */
function checkedDouble(value: number, limit: number): bigint {
  if (value >= limit || value <= -(2 ** 63)) throw new CelFailure('overflow', 'The value is out of range.');
  return wholeOf(value);
}

/** Conversions by the name of their type. Each returns undefined for a type that it leaves to the library. */
export const conversions: Readonly<Record<string, (value: unknown) => unknown>> = {
  int(value) {
    if (typeof value === 'number') return checkedDouble(value, 2 ** 63);
    if (value instanceof UnsignedInt) return checkedInt(value.value);
    if (value instanceof Date) return BigInt(Math.floor(value.getTime() / 1000));
    if (typeof value !== 'string') return undefined;
    if (!/^[+-]?\d{1,20}$/.test(value)) throw refused('int');
    return checkedInt(BigInt(value.replace('+', '')));
  },
  uint(value) {
    if (typeof value === 'bigint') return checkedUint(value);
    if (typeof value === 'number') {
      if (value < 0 || value >= 2 ** 64 || Number.isNaN(value))
        throw new CelFailure('overflow', 'The value is out of range.');
      return checkedUint(wholeOf(value));
    }
    if (typeof value !== 'string') return undefined;
    if (!/^\d{1,20}$/.test(value)) throw refused('uint');
    return checkedUint(BigInt(value));
  },
  string(value) {
    if (value instanceof Date) return timestampText(value);
    if (value instanceof Duration) return durationText(value);
    if (!(value instanceof Uint8Array)) return undefined;
    try {
      return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(value);
    } catch (error) {
      if (!(error instanceof TypeError)) throw error;
      throw new CelFailure('invalid_argument', 'The bytes are no UTF-8.');
    }
  },
  timestamp(value) {
    if (value instanceof Date) return value;
    if (typeof value === 'bigint') return timestampOf(Number(value) * 1000);
    if (typeof value !== 'string') return undefined;
    const date = parseTimestamp(value);
    if (date === undefined) throw refused('timestamp, such as 2026-01-31T09:00:00Z');
    return date;
  },
  duration(value) {
    if (value instanceof Duration) return value;
    if (typeof value !== 'string') return undefined;
    const duration = parseDuration(value);
    if (duration === undefined) throw refused('duration, such as 1h30m');
    return duration;
  },
};

import { Optional } from 'cel-js';
import { Duration, UnsignedInt } from 'cel-js/evaluator';
import { nanosecondsIn } from './functions/duration.ts';
import { meter } from './meter.ts';
import { TypedRecord } from './values-in.ts';

/**
 * Equality of CEL: numbers are equal by their value, lists and maps by their contents, and values of different types are unequal. Each
 * part that is visited costs one unit: a value may contain the same list many times.
 */
export function isEqual(left: unknown, right: unknown): boolean {
  meter.charge(10);
  if (isNumber(left) && isNumber(right)) return numbersEqual(left, right);
  if (typeof left === 'string' && typeof right === 'string') {
    meter.charge(Math.min(left.length, right.length));
    return left === right;
  }
  if (typeof left !== 'object' || typeof right !== 'object' || left === null || right === null)
    return isNullRecord(left) ? right === null : isNullRecord(right) ? left === null : left === right;
  if (Array.isArray(left)) {
    return Array.isArray(right) && left.length === right.length && left.every((item, at) => isEqual(item, right[at]));
  }
  if (left instanceof Map) return right instanceof Map && mapsEqual(left, right);
  if (left instanceof Date) return right instanceof Date && left.getTime() === right.getTime();
  if (left instanceof Duration) return right instanceof Duration && nanosecondsIn(left) === nanosecondsIn(right);
  if (left instanceof Uint8Array) {
    if (!(right instanceof Uint8Array)) return false;
    meter.charge(Math.min(left.length, right.length));
    return Buffer.compare(left, right) === 0;
  }
  if (left instanceof Optional) {
    if (!(right instanceof Optional)) return false;
    if (!left.hasValue() || !right.hasValue()) return left.hasValue() === right.hasValue();
    return isEqual(left.value(), right.value());
  }
  return left === right;
}

type AnyNumber = number | bigint | UnsignedInt;

function isNumber(value: unknown): value is AnyNumber {
  return typeof value === 'number' || typeof value === 'bigint' || value instanceof UnsignedInt;
}

function isNullRecord(value: unknown): boolean {
  return value instanceof TypedRecord && value.isNull;
}

function numbersEqual(left: AnyNumber, right: AnyNumber): boolean {
  const [one, other] = [left.valueOf(), right.valueOf()];
  // JavaScript compares a BigInt with a number by their exact values.
  // oxlint-disable-next-line eqeqeq
  return one == other;
}

function mapsEqual(left: Map<unknown, unknown>, right: Map<unknown, unknown>): boolean {
  if (isNullRecord(left) || isNullRecord(right)) return isNullRecord(left) && isNullRecord(right);
  const [entries, others] = [[...left], new Map(right)];
  return (
    entries.length === others.size &&
    entries.every(([key, value]) => others.has(key) && isEqual(value, others.get(key)))
  );
}

/** `value in container`. */
export function isMember(value: unknown, container: readonly unknown[] | Map<unknown, unknown>): boolean {
  if (container instanceof Map) {
    meter.charge(10);
    return container.has(keyOf(value));
  }
  return container.some((item) => isEqual(value, item));
}

/** The key under which a map keeps a value: a whole number has one key, whatever its type. */
export function keyOf(value: unknown): unknown {
  if (value instanceof UnsignedInt) return value.value;
  return typeof value === 'number' && Number.isInteger(value) ? BigInt(value) : value;
}

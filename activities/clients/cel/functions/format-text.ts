import { Duration, UnsignedInt } from 'cel-js/evaluator';
import { CelFailure, meter } from '../meter.ts';
import { TypedRecord } from '../values-in.ts';
import { durationText } from './duration.ts';
import { timestampText } from './timestamp.ts';

const clause = /%(?:%|(?:\.(\d{1,3}))?([a-zA-Z]))|%/g;

/** Digits after the point that a clause may ask for. */
const maxPrecision = 100;

/** `"%s is %d".format([a, b])`: clauses %s, %d, %f, %e, %b, %o, %x and %X. @throws CelFailure invalid_argument */
export function formatText(template: string, values: readonly unknown[]): string {
  let next = 0;
  const written = template.replace(clause, (whole, precision: string | undefined, letter: string | undefined) => {
    if (whole === '%%') return '%';
    if (letter === undefined) throw refused('has a % that no letter follows');
    if (next >= values.length) throw refused(`has more clauses than the ${values.length} values`);
    const digits = precision === undefined ? 6 : Number(precision);
    if (digits > maxPrecision) throw refused(`asks for more than ${maxPrecision} digits`);
    const text = writeClause(letter, values[next++], digits);
    meter.charge(text.length);
    return text;
  });
  return written;
}

function refused(problem: string): CelFailure {
  return new CelFailure('invalid_argument', `format: the text ${problem}.`);
}

function writeClause(letter: string, given: unknown, digits: number): string {
  const value = given instanceof UnsignedInt ? given.value : given;
  switch (letter) {
    case 's':
      return textOf(value);
    case 'd':
      if (typeof value === 'bigint' || (typeof value === 'number' && !Number.isFinite(value))) return `${value}`;
      break;
    case 'f':
      if (typeof value === 'number' || typeof value === 'bigint') return fixed(Number(value), digits);
      break;
    case 'e':
      if (typeof value === 'number' || typeof value === 'bigint') return exponential(Number(value), digits);
      break;
    case 'b':
      if (typeof value === 'boolean') return value ? '1' : '0';
      if (typeof value === 'bigint') return value.toString(2);
      break;
    case 'o':
      if (typeof value === 'bigint') return value.toString(8);
      break;
    case 'x':
    case 'X': {
      const hex = hexadecimal(value);
      if (hex !== undefined) return letter === 'x' ? hex : hex.toUpperCase();
      break;
    }
    default:
      throw refused(`has the unknown clause %${letter}`);
  }
  throw refused(`has %${letter} for a value of another type`);
}

function hexadecimal(value: unknown): string | undefined {
  if (typeof value === 'bigint') return value.toString(16);
  if (typeof value === 'string') return Buffer.from(value).toString('hex');
  return value instanceof Uint8Array ? Buffer.from(value).toString('hex') : undefined;
}

/** Rounds a half to the even neighbour. */
function fixed(value: number, digits: number): string {
  if (!Number.isFinite(value)) return `${value}`;
  if (Math.abs(value) >= 1e21) return `${BigInt(value)}${digits > 0 ? `.${'0'.repeat(digits)}` : ''}`;
  // oxlint-disable-next-line oxc/number-arg-out-of-range -- 100 digits are allowed since 2018
  const exact = value.toFixed(100);
  const [whole = '', fraction = ''] = exact.split('.');
  const kept = fraction.slice(0, digits);
  const isHalf = /^50*$/.test(fraction.slice(digits));
  const isEven = Number((kept === '' ? whole : kept).at(-1)) % 2 === 0;
  return isHalf && isEven ? (kept === '' ? whole : `${whole}.${kept}`) : value.toFixed(digits);
}

function exponential(value: number, digits: number): string {
  if (!Number.isFinite(value)) return `${value}`;
  return value.toExponential(digits).replace(/e([+-])(\d)$/, 'e$10$2');
}

/** A value as text; entries of a map stand in the order of their keys. */
function textOf(value: unknown): string {
  meter.charge(10);
  if (typeof value === 'string') return value;
  if (Array.isArray(value)) return `[${value.map(textOf).join(', ')}]`;
  if (value instanceof TypedRecord && value.isNull) return 'null';
  if (value instanceof Map) {
    const entries = [...value].map(([key, item]) => [textOf(key), textOf(item)] as const);
    const sorted = entries.toSorted(([one], [other]) => (one < other ? -1 : one > other ? 1 : 0));
    return `{${sorted.map(([key, item]) => `${key}: ${item}`).join(', ')}}`;
  }
  if (value instanceof Date) return timestampText(value);
  if (value instanceof Duration) return durationText(value);
  if (value instanceof UnsignedInt) return `${value.value}`;
  if (value instanceof Uint8Array) return new TextDecoder().decode(value);
  if (value === null || ['number', 'bigint', 'boolean'].includes(typeof value)) return String(value);
  const name: unknown = typeof value === 'object' && value !== null ? Reflect.get(value, 'name') : undefined;
  if (typeof name === 'string') return name;
  throw refused('has %s for a value that has no text');
}

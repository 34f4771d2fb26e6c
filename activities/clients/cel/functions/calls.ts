import { Duration } from 'cel-js/evaluator';
import { meter } from '../meter.ts';
import { conversions } from './conversions.ts';
import { durationParts } from './duration.ts';
import { matches } from './patterns.ts';
import * as text from './text-functions.ts';
import { timestampParts } from './timestamp.ts';

/**
 * A function in place of that of cel-js: linear, by code points, exact. It returns undefined for values that it does not know, which the
 * library then handles. The checker uses the signatures of the library.
 */
export type Call = (values: readonly unknown[]) => unknown;

/** A call whose values have these types, as `typeof` names them; the last ones may be absent. */
function typed(call: (...values: never[]) => unknown, ...types: readonly ('string' | 'bigint')[]): Call {
  return (values) =>
    values.every((value, index) => typeof value === types[index]) ? call(...(values as never[])) : undefined;
}

const part: (name: string) => Call =
  (name) =>
  ([value, zone]) => {
    if (value instanceof Duration) return durationParts[name]?.(value);
    if (!(value instanceof Date)) return undefined;
    // A format of a zone is slow to make.
    if (zone !== undefined) meter.charge(100);
    return timestampParts[name]?.(value, typeof zone === 'string' ? zone : undefined);
  };

/** Calls with a receiver, which is the first value. */
export const methods: ReadonlyMap<string, Call> = new Map<string, Call>([
  ['matches', typed(matches, 'string', 'string')],
  ['indexOf', typed(text.indexOf, 'string', 'string', 'bigint')],
  ['lastIndexOf', typed(text.lastIndexOf, 'string', 'string', 'bigint')],
  ['substring', typed(text.substring, 'string', 'bigint', 'bigint')],
  ['split', typed(text.split, 'string', 'string', 'bigint')],
  ['trim', typed(text.trim, 'string')],
  ['lowerAscii', typed(text.lowerAscii, 'string')],
  ['upperAscii', typed(text.upperAscii, 'string')],
  ['size', typed(text.size, 'string')],
  [
    'join',
    ([list, separator = '']) =>
      Array.isArray(list) && typeof separator === 'string' ? text.join(list, separator) : undefined,
  ],
  ...Object.keys(timestampParts).map((name): [string, Call] => [name, part(name)]),
]);

/** Calls without a receiver. */
export const globalCalls: ReadonlyMap<string, Call> = new Map<string, Call>([
  ['size', typed(text.size, 'string')],
  ...Object.entries(conversions).map(([name, convert]): [string, Call] => [name, ([value]) => convert(value)]),
]);

import { Type } from 'typebox';
import { make, type Exact, type Made, type Options } from '../declared-field.ts';

/** A time zone by its name in the IANA database, for example Europe/Vienna. */
export function timeZone<const O extends Options<string>>(
  description: string,
  options: O & Exact<O, Options<string>> = {} as O & Exact<O, Options<string>>,
): Made<string, O> {
  const schema = Type.Refine(
    Type.String({ minLength: 1, maxLength: 64, examples: ['Europe/Vienna'] }),
    (value) => typeof value !== 'string' || isTimeZone(value),
    () => 'must be a time zone of the IANA database such as Europe/Vienna',
  );
  return make<string, O>('text', description, options, { schema, columnType: 'text' });
}

/** Offsets such as +02:00 are no time zones: they know no daylight saving time. */
function isTimeZone(name: string): boolean {
  if (/^[+-]/.test(name)) return false;
  try {
    return new Intl.DateTimeFormat('en', { timeZone: name }).resolvedOptions().timeZone !== '';
  } catch (error) {
    if (error instanceof RangeError) return false;
    throw error;
  }
}

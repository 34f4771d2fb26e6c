import { Type } from 'typebox';
import { describedKeyword } from '../described-schema.ts';
import { make, type Exact, type ListUse, type Made, type Options } from '../declared-field.ts';

/** A time zone by its name in the IANA database, for example Europe/Vienna. */
export function timeZone<const O extends Options<string, ListUse>>(
  description: string,
  options: O & Exact<O, Options<string, ListUse>> = {} as O & Exact<O, Options<string, ListUse>>,
): Made<string, O> {
  const schema = Type.Refine(
    Type.String({
      minLength: 1,
      maxLength: 64,
      examples: ['Europe/Vienna'],
      [describedKeyword]: { format: 'time-zone' },
    }),
    (value) => typeof value !== 'string' || isTimeZone(value),
    () => 'must be a time zone of the IANA database such as Europe/Vienna',
  );
  return make<string, O>('text', description, options, { schema, columnType: 'text' });
}

/**
 * Offsets such as +02:00 are no time zones: they know no daylight saving time. Names are written as the database has them, because programs
 * that read them from files distinguish `Europe/Vienna` from `europe/vienna`.
 */
function isTimeZone(name: string): boolean {
  if (!/^[A-Z][\w+-]*(\/[A-Z][\w+-]*)*$/.test(name)) return false;
  try {
    const { timeZone: canonical } = new Intl.DateTimeFormat('en', { timeZone: name }).resolvedOptions();
    return canonical === name || canonical.toLowerCase() !== name.toLowerCase();
  } catch (error) {
    if (error instanceof RangeError) return false;
    throw error;
  }
}

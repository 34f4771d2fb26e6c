import { GraphQLError, GraphQLScalarType } from 'graphql';
import { isDay } from '#entities/kit/base/instant.ts';

/** Days without a time; SQL statements already return them in this format. */
export const DateScalar = new GraphQLScalarType<string, string>({
  name: 'Date',
  description: 'A day without a time and a time zone, for example 2026-01-31.',
  specifiedByURL: 'https://www.rfc-editor.org/rfc/rfc3339#section-5.6',
  serialize: day,
  parseValue: day,
});

function day(value: unknown): string {
  if (typeof value === 'string' && isDay(value)) return value;
  throw new GraphQLError(`Date cannot represent ${JSON.stringify(value)}: write a day such as "2026-01-31".`);
}

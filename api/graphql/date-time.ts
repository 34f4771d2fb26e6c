import { GraphQLError, GraphQLScalarType } from 'graphql';
import { parseInstant } from '#entities/kit/instant.ts';

/** Instants come and leave as RFC 3339; the statement that reads them has written them so. */
export const DateTime = new GraphQLScalarType<Date, string>({
  name: 'DateTime',
  description: 'An instant as RFC 3339 in UTC, for example 2026-01-31T12:00:00.000Z.',
  specifiedByURL: 'https://www.rfc-editor.org/rfc/rfc3339',
  serialize: (value) => {
    if (typeof value === 'string') return value;
    throw new TypeError('not an instant');
  },
  parseValue: (value) => {
    const instant = typeof value === 'string' ? parseInstant(value) : undefined;
    if (instant) return instant;
    throw new GraphQLError('a DateTime is an instant such as 2026-01-31T12:00:00Z');
  },
});

import { GraphQLError, GraphQLScalarType } from 'graphql';

const rfc3339 = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(?:\.\d+)?(?:Z|[+-]\d{2}:\d{2})$/i;

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
    const instant = typeof value === 'string' && rfc3339.test(value) ? new Date(value) : undefined;
    // What the calendar does not have, and what PostgreSQL could not hold.
    if (instant && !Number.isNaN(instant.getTime())) return instant;
    throw new GraphQLError('a DateTime is an instant such as 2026-01-31T12:00:00Z');
  },
});

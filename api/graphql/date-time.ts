import { GraphQLScalarType } from 'graphql';

/** Instants leave as RFC 3339 in UTC. */
export const DateTime = new GraphQLScalarType<Date, string>({
  name: 'DateTime',
  description: 'An instant as RFC 3339 in UTC, for example 2026-01-31T12:00:00.000Z.',
  specifiedByURL: 'https://www.rfc-editor.org/rfc/rfc3339',
  serialize: (value) => {
    if (value instanceof Date) return value.toISOString();
    throw new TypeError('not an instant');
  },
});

import { GraphQLError, GraphQLScalarType, Kind, print, type ConstValueNode, type ValueNode } from 'graphql';
import { parseInstant } from '#entities/kit/base/instant.ts';

/** Timestamps in RFC 3339; SQL statements already return them in this format. */
export const DateTime = new GraphQLScalarType<Date, string>({
  name: 'DateTime',
  description: 'A timestamp as RFC 3339 in UTC, for example 2026-01-31T12:00:00.000Z.',
  specifiedByURL: 'https://www.rfc-editor.org/rfc/rfc3339',
  serialize: (value) => {
    if (typeof value === 'string') return value;
    throw new TypeError('not a timestamp');
  },
  parseValue: (value) => instantOf(value, JSON.stringify(value)),
  parseLiteral: (node) => instantOf(node.kind === Kind.STRING ? node.value : undefined, print(node), node),
});

/** @param node location of the value in the document, for the error */
function instantOf(value: unknown, written: string, node?: ValueNode | ConstValueNode): Date {
  const instant = typeof value === 'string' ? parseInstant(value) : undefined;
  if (instant) return instant;
  const message = `DateTime cannot represent ${written}: write a timestamp such as "2026-01-31T12:00:00Z".`;
  throw new GraphQLError(message, { nodes: node });
}

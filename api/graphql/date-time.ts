import { GraphQLError, GraphQLScalarType, Kind, print, type ConstValueNode, type ValueNode } from 'graphql';
import { parseInstant } from '#entities/kit/base/instant.ts';

/** Instants come and leave as RFC 3339; the statement that reads them has written them so. */
export const DateTime = new GraphQLScalarType<Date, string>({
  name: 'DateTime',
  description: 'An instant as RFC 3339 in UTC, for example 2026-01-31T12:00:00.000Z.',
  specifiedByURL: 'https://www.rfc-editor.org/rfc/rfc3339',
  serialize: (value) => {
    if (typeof value === 'string') return value;
    throw new TypeError('not an instant');
  },
  parseValue: (value) => instantOf(value, JSON.stringify(value)),
  parseLiteral: (node) => instantOf(node.kind === Kind.STRING ? node.value : undefined, print(node), node),
});

/** @param node where the value stands in the document, so that its refusal says so */
function instantOf(value: unknown, written: string, node?: ValueNode | ConstValueNode): Date {
  const instant = typeof value === 'string' ? parseInstant(value) : undefined;
  if (instant) return instant;
  const message = `DateTime cannot represent ${written}: write an instant such as "2026-01-31T12:00:00Z".`;
  throw new GraphQLError(message, { nodes: node });
}

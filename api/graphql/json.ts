import { GraphQLScalarType } from 'graphql';

/** A JSON document, as it was given. */
export const Json = new GraphQLScalarType<unknown, unknown>({
  name: 'JSON',
  description: 'A JSON document (RFC 8259).',
  specifiedByURL: 'https://www.rfc-editor.org/rfc/rfc8259',
});

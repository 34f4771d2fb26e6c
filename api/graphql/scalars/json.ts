import { GraphQLScalarType } from 'graphql';

/** A JSON document, passed through unchanged. */
export const Json = new GraphQLScalarType<unknown, unknown>({
  name: 'JSON',
  description: 'A JSON document (RFC 8259).',
  specifiedByURL: 'https://www.rfc-editor.org/rfc/rfc8259',
});

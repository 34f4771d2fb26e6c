import { GraphQLError, GraphQLScalarType, Kind } from 'graphql';

/** Input of fields that hold files. Only the data layer knows which uploads exist. */
export const Upload = new GraphQLScalarType<string, string>({
  name: 'Upload',
  description:
    'A file: a part of a multipart request (graphql-multipart-request-spec), or the id of an upload of the caller that no record has taken.',
  specifiedByURL: 'https://github.com/jaydenseric/graphql-multipart-request-spec',
  parseValue: uploadId,
  parseLiteral: (node) => uploadId(node.kind === Kind.STRING ? node.value : undefined),
});

function uploadId(value: unknown): string {
  if (typeof value === 'string') return value;
  throw new GraphQLError('Upload must be a file of a multipart request, or the id of an upload.');
}

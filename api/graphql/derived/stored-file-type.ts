import { GraphQLEnumType, GraphQLID, GraphQLNonNull, GraphQLObjectType, GraphQLString } from 'graphql';
import { availabilities, fileValueNames, fileValues, type FileValue } from '#entities/kit/model/files/stored-file.ts';
import { BigInt } from '../scalars/big-int.ts';
import { passthroughField } from '../passthrough-field.ts';
import { downloadUrlField } from '../download-url.ts';
import { objectKey, storedFileType } from '../file-parts.ts';

const FileAvailability = new GraphQLEnumType({
  name: 'FileAvailability',
  description: 'Whether a file can be downloaded.',
  values: Object.fromEntries(
    Object.entries(availabilities).map(([name, description]) => [name.toUpperCase(), { description }]),
  ),
});

/** The file of a record. Callers who can view the record can read it. */
export const StoredFile = new GraphQLObjectType({
  name: storedFileType,
  description: 'A file that belongs to a record. Callers who can view the record can read it.',
  fields: {
    ...Object.fromEntries(
      fileValueNames.map((name) => [name, passthroughField(new GraphQLNonNull(typeOf(name)), fileValues[name])]),
    ),
    downloadUrl: downloadUrlField(objectKey),
  },
});

function typeOf(name: FileValue) {
  if (name === 'id') return GraphQLID;
  if (name === 'availability') return FileAvailability;
  return name === 'sizeBytes' ? BigInt : GraphQLString;
}

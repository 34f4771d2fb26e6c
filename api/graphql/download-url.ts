import { GraphQLBoolean, GraphQLEnumType, GraphQLInt, GraphQLString } from 'graphql';
import { inputError } from '#entities/kit/base/input-error.ts';
import { ownedObject, type ObjectDocument } from '#entities/kit/objects/stored-object.ts';
import type { LinkOptions } from '../auth/download-link.ts';
import { maxLinkSeconds } from '../auth/signed-links.ts';
import { downloadLinkTo } from '../http/response/download-link-to.ts';
import type { FieldConfig } from './passthrough-field.ts';

const Disposition = new GraphQLEnumType({
  name: 'DownloadDisposition',
  description: 'How a browser presents a file.',
  values: {
    ATTACHMENT: { value: 'attachment', description: 'Offers the file for download.' },
    INLINE: { value: 'inline', description: 'Shows the file, if it is a PDF, PNG, JPEG, GIF or WebP.' },
  },
});

/** Made in this process from what the statement of the record has read. @param objectKey where the object of a file stands in its source */
export function downloadUrlField(objectKey: string): FieldConfig {
  return {
    type: GraphQLString,
    description:
      'Link with which the file can be downloaded without further credentials. Each use checks again whether the caller of this query may view the record, unless objectstorage lets the provider serve its files itself. Null while the file is withheld (`availability`).',
    args: {
      expiresInSeconds: {
        type: GraphQLInt,
        defaultValue: 900,
        description: `Time for which the link is valid; at most ${maxLinkSeconds} seconds, which is a day.`,
      },
      disposition: { type: Disposition, defaultValue: 'attachment', description: 'How a browser presents the file.' },
      once: {
        type: GraphQLBoolean,
        defaultValue: false,
        description: 'Whether the link is valid for one download only.',
      },
    },
    resolve: (source, args, { services, fastify: { request } }) => {
      const { expiresInSeconds, disposition, once } = args as {
        readonly [Name in keyof LinkOptions]: LinkOptions[Name] | null;
      };
      const seconds = expiresInSeconds ?? 900;
      if (seconds < 1 || seconds > maxLinkSeconds)
        throw inputError([
          { path: '/expiresInSeconds', message: `must be from 1 to ${maxLinkSeconds}, and is ${seconds}` },
        ]);
      const object = ownedObject(source[objectKey] as ObjectDocument);
      const options = { expiresInSeconds: seconds, disposition: disposition ?? 'attachment', once: once ?? false };
      return downloadLinkTo(object, options, request.core, services);
    },
  };
}

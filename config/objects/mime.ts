import { flag, object, text } from '../schema/field.ts';
import { headerValue } from '../schema/format.ts';

/** `server.mime` (specification: Server, MIME). */
export const mime = object('Content types of files that the server sends.', {
  enabled: flag({
    description: 'Derives the content type from the file name; off: always defaultcontenttype.',
    default: true,
  }),
  mimetypesfile: text({
    description:
      'Path of a file with additional types, one per line: type, then its file name extensions, separated by spaces. Empty: built-in types only.',
  }),
  defaultcontenttype: text({
    description: 'Content type of a file whose name tells nothing.',
    default: 'application/octet-stream',
    format: headerValue,
    required: true,
  }),
});

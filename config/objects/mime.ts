import { flag, object, text } from '../schema/field.ts';
import { headerValue } from '../schema/format.ts';

/** `server.mime`. */
export const mime = object('Content types of files that the server sends.', {
  enabled: flag({
    description: 'Derives the content type from the file name. When off, defaultcontenttype is always sent.',
    default: true,
  }),
  mimetypesfile: text({
    description:
      'Path of a file with additional types. Each line has a type and its file name extensions, separated by spaces. When empty, only the built-in types are used.',
  }),
  defaultcontenttype: text({
    description: 'Content type of files whose extension is unknown.',
    default: 'application/octet-stream',
    format: headerValue,
    required: true,
  }),
});

import { flag, object, text } from '../../schema/field.ts';
import { headerValue } from '../../schema/format.ts';

/** `server.mime`. */
export const mime = object('Content types of files, as the server finds them.', {
  enabled: flag({
    description:
      'Derives the type of text files from the extensions of their names, and refuses files whose extension contradicts their content. When off, names are ignored and every text is text/plain.',
    default: true,
  }),
  mimetypesfile: text({
    description:
      'Path of a file with additional types. Each line has a type and its file name extensions, separated by spaces. When empty, only the built-in types are used.',
    restart: true,
  }),
  defaultcontenttype: text({
    description: 'Content type of files that are not text and whose content has no known type.',
    default: 'application/octet-stream',
    format: headerValue,
    required: true,
  }),
});

import { flag, object, text } from '../schema/field.ts';

/** `keywatcher` (specification: Key watcher). */
export const keywatcher = object('Watcher of the folder with JWT signing keys.', {
  enabled: flag({
    description:
      'Reads signing keys from keydir and follows its changes: a new file signs, a removed one no longer verifies.',
    restart: true,
  }),
  keydir: text({
    description: 'Folder of PEM files; the name of a file without its ending is the key id.',
    default: './keys',
    required: true,
    restart: true,
  }),
});

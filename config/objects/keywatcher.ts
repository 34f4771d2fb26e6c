import { flag, object, text } from '../schema/field.ts';

/** `keywatcher`. */
export const keywatcher = object('Signing keys for JWTs from a folder that is watched for changes.', {
  enabled: flag({
    description:
      'Reads signing keys from keydir and follows its changes: a new file is used for signing, and tokens signed with the key of a removed file are rejected.',
    restart: true,
  }),
  keydir: text({
    description: 'Folder of PEM files. The name of a file without its extension is the key id.',
    default: './keys',
    required: true,
    restart: true,
  }),
});

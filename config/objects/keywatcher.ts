import { flag, object, text } from '../schema/field.ts';

/** `keywatcher`. */
export const keywatcher = object('Signing keys for JWTs from a folder that is watched for changes.', {
  enabled: flag({
    description:
      'Reads signing keys from keydir, in addition to auth.token.keys, and follows its changes within seconds. If auth.token.kid names no key, the newest file signs new tokens, as soon as it is older than auth.token.jwkscachettl; before, it only verifies. Tokens signed with the key of a removed file are rejected. A file that cannot be used is logged once, and its previous content stays in use.',
    restart: true,
  }),
  keydir: text({
    description:
      'Folder of PEM files. The name of a file without its extension `.pem` is the key id; other files are ignored. The folder must not be writable by all users, and no file may be readable by all users.',
    default: './keys',
    required: true,
    restart: true,
  }),
});

import { flag, integer, object, secret, text } from '../schema/field.ts';
import { keyList } from '../schema/format.ts';

/** `totp`. */
export const totp = object('Time-based one-time passwords (TOTP) as second factor.', {
  enabled: flag({
    description: 'Offers TOTP as second factor. When off, nobody can set it up, and nobody is asked for a code.',
    default: true,
  }),
  codelength: integer({
    description: 'Number of digits of a code.',
    unit: 'digits',
    default: 6,
    minimum: 6,
    maximum: 8,
  }),
  issuer: text({
    description: 'Name of the server that authenticator apps show. Without domain, the default is auth.token.issuer.',
    maxLength: 100,
    fromDomain: (domain) => domain,
  }),
  cache: flag({
    description: 'Stores used codes in the cache as well. The database always stores them.',
    default: true,
  }),
  secret: secret({
    description:
      'Key from which the key for the TOTP secrets of users is derived, at least 32 characters. Several keys are separated by commas: the first one encrypts, all of them decrypt. To rotate, put the new key first. A secret is encrypted again when its user sends a code, so keep an old key until every user has done so. Required in production while totp.enabled is on. While server.dev is on, a missing key is generated and kept in the local state folder.',
    format: keyList,
    minLength: 32,
    restart: true,
  }),
  recoverycodecount: integer({
    description: 'Number of recovery codes that a user gets.',
    unit: 'codes',
    default: 16,
    minimum: 1,
    maximum: 100,
  }),
  recoverycodelength: integer({
    description: 'Length of a recovery code.',
    unit: 'characters',
    default: 8,
    minimum: 8,
    maximum: 64,
  }),
});

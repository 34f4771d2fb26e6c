import { flag, integer, object, secret, text } from '../schema/field.ts';

/** `totp` (specification: TOTP; Authentication). */
export const totp = object('One-time passwords as second factor.', {
  enabled: flag({
    description: 'Offers TOTP as second factor; off: nobody can set it up or is asked for it.',
    default: true,
  }),
  codelength: integer({
    description: 'Length of a code.',
    unit: 'digits',
    default: 6,
    minimum: 6,
    maximum: 8,
  }),
  issuer: text({
    description: 'Name that authenticator apps show. Empty: auth.token.issuer.',
    maxLength: 100,
    fromDomain: (domain) => domain,
  }),
  cache: flag({
    description: 'Remembers used codes in the cache connection as well; the database remembers them in any case.',
    default: true,
  }),
  secret: secret({
    description:
      'Encrypts the TOTP secrets of users (the key is derived from it); at least 32 characters. Required in production while totp is enabled; generated and kept in the local state folder when server.dev is on.',
    minLength: 32,
    restart: true,
  }),
  recoverycodecount: integer({
    description: 'How many recovery codes a user gets.',
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

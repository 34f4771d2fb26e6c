import { cacheConnection } from './cache.ts';
import { duration, flag, integer, map, object, secret, text } from '../schema/field.ts';
import { httpUrl, shortName, variableName } from '../schema/format.ts';

const api = (domain: string): string => `https://api.${domain}`;

const apitokens = object('Keys that sign API tokens, and the shape of the tokens.', {
  enabled: flag({
    description:
      'Signs and checks API tokens with the keys below, of which exactly one must be active; off: API tokens are refused.',
  }),
  envprefix: text({
    description:
      'Further keys come from environment variables beginning with this: the rest of the name, lower-cased, is the key id; the value is `secret`, or `deprecated:secret` or `revoked:secret`. `_FILE` at the end of the name reads the value from a file. Empty: no variables are read.',
    default: 'CORE_API_TOKEN_KEY_',
    format: variableName,
  }),
  keys: map({
    description: 'Keys by id.',
    keyLabel: 'key id',
    keyFormat: shortName,
    values: object('One key.', {
      secret: secret({ description: 'The key itself, at least 32 characters.', minLength: 32, required: true }),
      status: text({
        description: '`active` signs and checks, `deprecated` only checks, `revoked` refuses what it signed.',
        values: ['active', 'deprecated', 'revoked'],
        default: 'active',
      }),
    }),
  }),
  secretsize: integer({
    description: 'Random bytes in the secret part of a new token.',
    unit: 'bytes',
    default: 32,
    minimum: 16,
    maximum: 128,
  }),
  delimiter: text({
    description: 'Separates prefix, id and secret of a token.',
    values: ['_', '.', '-', '~', ':'],
    default: '_',
  }),
  prefix: text({
    description: 'How a token begins, so that leaked ones can be recognized.',
    default: 'core',
    required: true,
    format: {
      name: 'a short lower-case name',
      example: 'core',
      pattern: '^[a-z][a-z0-9]{0,15}$',
      check: (prefix) => (/^[a-z][a-z0-9]{0,15}$/u.test(prefix) ? undefined : 'is not a short lower-case name'),
    },
  }),
});

/** `auth.token` (specification: Auth, Token settings; Authentication, Access tokens and API tokens). */
export const token = object('Signed access, refresh and API tokens.', {
  kid: text({ description: 'Id of the key that signs new tokens.', required: true, format: shortName }),
  audience: text({ description: 'Audience of access tokens.', required: true, fromDomain: api }),
  refreshaudience: text({ description: 'Audience of refresh tokens. Empty: audience.', fromDomain: api }),
  issuer: text({ description: 'Issuer of the tokens.', required: true, fromDomain: api }),
  accessduration: duration({
    description: 'Lifetime of an access token. Shorter than refreshduration.',
    default: 3_600_000,
    minimum: 300_000,
    maximum: 86_400_000,
  }),
  refreshduration: duration({
    description: 'Lifetime of a refresh token. Longer than accessduration.',
    default: 7_200_000,
    minimum: 900_000,
    maximum: 2_592_000_000,
  }),
  refreshoverlap: duration({
    description:
      'When a refresh token becomes valid, counted from the expiry of its access token; negative, because it lies before it. Nearer than accessduration.',
    default: -900_000,
    minimum: -3_600_000,
    maximum: -1000,
  }),
  jwksendpoint: text({
    description: 'URL where others find the public key set, as announced by discovery.',
    format: httpUrl,
    fromDomain: (domain) => `${api(domain)}/.well-known/jwks.json`,
  }),
  keys: map({
    description: 'Signing keys by id: path of a PEM file, or the PEM text itself.',
    keyLabel: 'key id',
    keyFormat: shortName,
    values: secret({ description: 'Path of a PEM file, or the PEM text.', required: true }),
  }),
  generatekeys: flag({
    description: 'Generates a signing key and keeps it encrypted in the database when no other source gives one.',
    default: true,
    restart: true,
  }),
  jwkscachettl: duration({
    description: 'How long the public key set may be cached, here and by those who fetch it (Cache-Control: max-age).',
    default: 300_000,
    minimum: 1000,
    maximum: 86_400_000,
  }),
  cache: object('Mirror of revoked tokens in a cache, for other services. The database decides here.', {
    enabled: flag({ description: 'Writes revoked tokens to the cache.', restart: true }),
    config: cacheConnection(
      'Cache connection of this mirror. While its own enabled is off, the root object `cache` is used.',
    ),
    blacklistprefix: text({
      description: 'Prefix of the keys of revoked tokens; the token id follows.',
      default: 'token:blacklist:',
      maxLength: 100,
      restart: true,
    }),
  }),
  apitokens,
  assessmentaccessduration: duration({
    description: 'Lifetime of the access to an assessment that a link gives.',
    default: 3_600_000,
    minimum: 60_000,
    maximum: 2_592_000_000,
  }),
  trustcenterndarequestaccessduration: duration({
    description: 'Lifetime of the access to an NDA request of a trust center that a link gives.',
    default: 3_600_000,
    minimum: 60_000,
    maximum: 2_592_000_000,
  }),
});

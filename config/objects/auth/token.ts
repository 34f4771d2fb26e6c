import { cacheConnection } from '../cache.ts';
import { duration, flag, integer, map, object, secret, text } from '../../schema/field.ts';
import { httpUrl, shortName, variableName } from '../../schema/format.ts';

const api = (domain: string): string => `https://api.${domain}`;

const apitokens = object('API tokens: the keys that sign them, and their format.', {
  enabled: flag({
    description:
      'Accepts API tokens and personal tokens, and signs them with the keys below, exactly one of which must be active. When off, they are rejected.',
  }),
  envprefix: text({
    description:
      'Prefix of environment variables that define further keys. The rest of the name in lower case is the key id. The value is `secret`, `deprecated:secret` or `revoked:secret`; with `_FILE` at the end of the name, it is read from the named file. When empty, no variables are read.',
    default: 'CORE_API_TOKEN_KEY_',
    format: variableName,
  }),
  keys: map({
    description: 'Signing keys of API tokens, by key id.',
    keyLabel: 'key id',
    keyFormat: shortName,
    values: object('One signing key.', {
      secret: secret({ description: 'The key, at least 32 characters.', minLength: 32, required: true }),
      status: text({
        description:
          '`active`: signs and verifies tokens. `deprecated`: only verifies. `revoked`: tokens signed with the key are rejected.',
        values: ['active', 'deprecated', 'revoked'],
        default: 'active',
      }),
    }),
  }),
  secretsize: integer({
    description: 'Number of random bytes in the secret part of a new token.',
    unit: 'bytes',
    default: 32,
    minimum: 16,
    maximum: 128,
  }),
  delimiter: text({
    description: 'Character between the prefix, the id and the secret of API tokens and personal tokens.',
    values: ['_', '.', '-', '~', ':'],
    default: '_',
  }),
  prefix: text({
    description:
      'First part of every API token, by which leaked tokens can be recognized; that of personal tokens is `pat`. Tokens with another prefix or delimiter stop working.',
    default: 'core',
    required: true,
    format: {
      name: 'a short lower-case name',
      example: 'core',
      pattern: '^[a-z][a-z0-9]{0,15}$',
      check: (prefix) => {
        if (prefix === 'pat') return 'is the prefix of personal tokens';
        return /^[a-z][a-z0-9]{0,15}$/u.test(prefix) ? undefined : 'is not a short lower-case name';
      },
    },
  }),
});

/** `auth.token`. */
export const token = object('Access tokens, refresh tokens and API tokens.', {
  kid: text({
    description:
      'Id (`kid`) of the key that signs new tokens. If no key has this id, the newest one of keywatcher or server.secretmanager signs.',
    required: true,
    format: shortName,
  }),
  audience: text({ description: 'Audience (`aud`) of access tokens.', required: true, fromDomain: api }),
  refreshaudience: text({
    description: 'Audience (`aud`) of refresh tokens. Without domain, the default is audience.',
    fromDomain: api,
  }),
  issuer: text({ description: 'Issuer (`iss`) of the tokens.', required: true, fromDomain: api }),
  accessduration: duration({
    description: 'Lifetime of an access token. Must be shorter than refreshduration.',
    default: 3_600_000,
    minimum: 300_000,
    maximum: 86_400_000,
  }),
  refreshduration: duration({
    description: 'Lifetime of a refresh token. Must be longer than accessduration.',
    default: 7_200_000,
    minimum: 900_000,
    maximum: 2_592_000_000,
  }),
  refreshoverlap: duration({
    description:
      'Time before the expiry of the access token, as a negative number, from which its refresh token is valid. Must not reach back further than accessduration.',
    default: -900_000,
    minimum: -3_600_000,
    maximum: -1000,
  }),
  jwksendpoint: text({
    description:
      'URL of the public key set (JWKS) that the discovery document announces. With the origin of issuer or of integrations.email.apiurl, this server publishes its keys there, and at `/.well-known/jwks.json` in any case. With another origin, tokens signed with the keys of that set are accepted, too; while it cannot be reached, its last known keys stay valid.',
    format: httpUrl,
    restart: true,
    fromDomain: (domain) => `${api(domain)}/.well-known/jwks.json`,
  }),
  keys: map({
    description:
      'Signing keys by key id: Ed25519, RSA, or EC on P-256 or P-384. A value is the path of a PEM file that is not readable by all users, or the PEM text.',
    keyLabel: 'key id',
    keyFormat: shortName,
    values: secret({ description: 'Path of a PEM file, or the PEM text.', required: true }),
  }),
  generatekeys: flag({
    description:
      'Generates a signing key when no other source is configured, and keeps it in the state folder. API processes on several machines need another source.',
    default: true,
    restart: true,
  }),
  jwkscachettl: duration({
    description:
      'Time for which the public key set (JWKS) may be cached, by this server and by clients (`Cache-Control: max-age`).',
    default: 300_000,
    minimum: 1000,
    maximum: 86_400_000,
  }),
  cache: object(
    'Ids of ended sessions in a cache, for other services that accept access tokens. This server itself checks the database.',
    {
      enabled: flag({
        description:
          'Writes the ids of ended sessions (claim `sid` of their tokens) to the cache, until their tokens have expired. While the cache cannot be reached, the writes wait.',
        restart: true,
      }),
      config: cacheConnection(
        'Cache connection for ended sessions. While its enabled is off, the connection of the root object `cache` is used.',
      ),
      blacklistprefix: text({
        description: 'Prefix of the cache keys of ended sessions. The session id follows it.',
        default: 'token:blacklist:',
        maxLength: 100,
        restart: true,
      }),
    },
  ),
  apitokens,
  assessmentaccessduration: duration({
    description: 'Lifetime of the access that a link gives to an assessment.',
    default: 3_600_000,
    minimum: 60_000,
    maximum: 2_592_000_000,
  }),
  trustcenterndarequestaccessduration: duration({
    description: 'Lifetime of the access that a link gives to an NDA request of a trust center.',
    default: 3_600_000,
    minimum: 60_000,
    maximum: 2_592_000_000,
  }),
});

import { duration, flag, integer, object, secret, text, type IntegerField } from '../schema/field.ts';
import { hostAndPort } from '../schema/format.ts';

function connections(description: string): IntegerField {
  return integer({ description, unit: 'connections', default: 0, minimum: 0, maximum: 10_000, restart: true });
}

/** A cache connection (specification: Cache connection): `cache` and `auth.token.cache.config`. */
export function cacheConnection(description: string) {
  return object(description, {
    enabled: flag({
      description: 'Connects to the cache; off: everything that would use it works without.',
      restart: true,
    }),
    address: text({
      description: 'Host and port of the Redis or Valkey server.',
      default: 'localhost:6379',
      format: hostAndPort,
      required: true,
      restart: true,
    }),
    name: text({
      description: 'Name of the connection, as the server lists its clients.',
      maxLength: 100,
      restart: true,
    }),
    username: text({ description: 'User name. Empty: the default user.', restart: true }),
    password: secret({ description: 'Password. Empty: none.', restart: true }),
    db: integer({
      description: 'Number of the logical database.',
      unit: 'number of a database',
      default: 0,
      minimum: 0,
      maximum: 1024,
      restart: true,
    }),
    dialtimeout: duration({
      description: 'Longest time to connect.',
      default: 5000,
      minimum: 100,
      maximum: 300_000,
      restart: true,
    }),
    readtimeout: duration({
      description: 'Longest wait for the answer to a command.',
      default: 3000,
      minimum: 100,
      maximum: 300_000,
      special: [{ value: -1, meaning: 'no limit' }],
      restart: true,
    }),
    writetimeout: duration({
      description: 'Longest time to send a command.',
      default: 3000,
      minimum: 100,
      maximum: 300_000,
      special: [{ value: -1, meaning: 'no limit' }],
      restart: true,
    }),
    maxretries: integer({
      description: 'How often a failed command is tried again.',
      unit: 'attempts',
      default: 3,
      minimum: 0,
      maximum: 100,
      restart: true,
    }),
    minidleconns: connections('Connections kept open although idle.'),
    maxidleconns: connections('Idle connections above this number are closed. 0: as many as maxactiveconns.'),
    maxactiveconns: connections('Most connections. 0: one, shared by all commands.'),
  });
}

/** `cache` (specification: Cache connection). */
export const cache = cacheConnection(
  'Cache connection: remembered decisions, rate limits across processes, TOTP replay protection, mirror of revoked tokens.',
);

import { duration, flag, integer, object, secret, text, type IntegerField } from '../schema/field.ts';
import { hostAndPort } from '../schema/format.ts';

function connections(description: string): IntegerField {
  return integer({ description, unit: 'connections', default: 0, minimum: 0, maximum: 10_000, restart: true });
}

/** A cache connection: `cache` and `auth.token.cache.config`. */
export function cacheConnection(description: string) {
  return object(description, {
    enabled: flag({
      description: 'Connects to the cache server. When off, everything works without a cache.',
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
      description:
        'Connection name that the server shows in its client list (`CLIENT SETNAME`). When empty, no name is set.',
      maxLength: 100,
      restart: true,
    }),
    username: text({ description: 'User name. When empty, the default user is used.', restart: true }),
    password: secret({ description: 'Password. When empty, no password is sent.', restart: true }),
    db: integer({
      description: 'Index of the logical database.',
      unit: 'database index',
      default: 0,
      minimum: 0,
      maximum: 1024,
      restart: true,
    }),
    dialtimeout: duration({
      description: 'Maximum time to establish a connection.',
      default: 5000,
      minimum: 100,
      maximum: 300_000,
      restart: true,
    }),
    readtimeout: duration({
      description: 'Maximum time to wait for the reply to a command.',
      default: 3000,
      minimum: 100,
      maximum: 300_000,
      special: [{ value: -1, meaning: 'no limit' }],
      restart: true,
    }),
    writetimeout: duration({
      description: 'Maximum time to send a command; then the connection is replaced by another one.',
      default: 3000,
      minimum: 100,
      maximum: 300_000,
      special: [{ value: -1, meaning: 'no limit' }],
      restart: true,
    }),
    maxretries: integer({
      description: 'Number of times a failed command is retried.',
      unit: 'attempts',
      default: 3,
      minimum: 0,
      maximum: 100,
      restart: true,
    }),
    minidleconns: connections(
      'Minimum number of idle connections that are kept open from the first command on, within maxidleconns and maxactiveconns.',
    ),
    maxidleconns: connections(
      'Maximum number of idle connections; further idle connections are closed. 0 means as many as maxactiveconns.',
    ),
    maxactiveconns: connections(
      'Maximum number of connections of this process. Commands beyond it share them, in the order in which they come. 0 means one connection that all commands share.',
    ),
  });
}

/** `cache`. */
export const cache = cacheConnection(
  'Connection to a Redis or Valkey server. It shares permission decisions, rate limit counters and used TOTP codes between processes, and mirrors revoked tokens for other services.',
);

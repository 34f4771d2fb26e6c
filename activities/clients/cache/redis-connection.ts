import { Redis } from 'ioredis';
import type { Config } from '#config/objects/root.ts';

/** The configured cache connection (`cache`). Connects with the first command. */
export function cacheConnection(config: Config['cache'], onError: (error: unknown) => void): Redis {
  const { address, name, username, password, db, dialtimeout, readtimeout, writetimeout, maxretries } = config;
  const { hostname, port } = new URL(`redis://${address}`);
  const connection = new Redis({
    host: hostname.replace(/^\[|\]$/g, ''),
    port: Number(port || 6379),
    ...(name === '' ? {} : { connectionName: name }),
    ...(username === '' ? {} : { username }),
    ...(password === '' ? {} : { password }),
    db,
    connectTimeout: dialtimeout,
    ...(readtimeout < 0 || writetimeout < 0 ? {} : { commandTimeout: readtimeout + writetimeout }),
    maxRetriesPerRequest: maxretries,
    lazyConnect: true,
    enableOfflineQueue: true,
  });
  // Without a listener the connection would end the process.
  connection.on('error', onError);
  return connection;
}

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
    ...(readtimeout < 0 ? {} : { commandTimeout: readtimeout }),
    maxRetriesPerRequest: maxretries,
    lazyConnect: true,
    enableOfflineQueue: true,
  });
  // Without a listener the connection would end the process.
  connection.on('error', onError);
  if (writetimeout >= 0) limitSending(connection, writetimeout);
  return connection;
}

/** Ends the connection when the system has not taken a whole command within this time: nobody at its other end reads. */
function limitSending(connection: Redis, timeoutMs: number): void {
  connection.on('connect', () => {
    const { stream } = connection;
    let waiting = 0;
    let since = performance.now();
    const watch = setInterval(() => {
      const { writableLength } = stream;
      if (writableLength === 0 || writableLength < waiting) since = performance.now();
      waiting = writableLength;
      if (performance.now() - since >= timeoutMs) stream.destroy(new Error('a command could not be sent in time'));
    }, timeoutMs / 4).unref();
    stream.once('close', () => clearInterval(watch));
  });
}

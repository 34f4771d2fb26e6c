import type { Duplex } from 'node:stream';
import type { PoolClient } from 'pg';

/** The socket of a connection. */
export function streamOf(client: PoolClient): Duplex {
  return (client as unknown as { readonly connection: { readonly stream: Duplex } }).connection.stream;
}

/**
 * Destroys the connection at the given time unless `cancel` is called before: queries in progress fail, and PostgreSQL rolls back.
 * @param time in milliseconds since the epoch
 */
export function destroyAfter(client: PoolClient, time: number): { readonly isReached: boolean; cancel(): void } {
  // The driver's `end` would wait for the answers to all pipelined queries first, so the socket itself is destroyed.
  const stream = streamOf(client);
  let isReached = false;
  const timer = setTimeout(
    () => {
      isReached = true;
      stream.destroy();
    },
    Math.max(0, time - Date.now()),
  );
  return {
    get isReached() {
      return isReached;
    },
    cancel: () => clearTimeout(timer),
  };
}

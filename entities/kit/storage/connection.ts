import type { Duplex } from 'node:stream';
import type { Pool, PoolClient } from 'pg';
import { databaseError } from './database-error.ts';
import { deadlineExceeded } from '../base/errors.ts';
import { withTimeout } from '../base/with-timeout.ts';

/**
 * Takes a connection from the pool. One that the pool provides after the deadline is released at once.
 * @param deadline in milliseconds since the epoch
 * @throws AppError database_busy, database_unavailable, deadline_exceeded
 */
export async function connect(pool: Pool, deadline: number): Promise<PoolClient> {
  const connecting = pool.connect();
  try {
    return await withTimeout(connecting, deadline - Date.now(), () => {
      throw deadlineExceeded();
    });
  } catch (error) {
    connecting.then(
      (client) => client.release(),
      () => {},
    );
    throw databaseError(error);
  }
}

/**
 * Destroys the connection at the given time unless `cancel` is called before: queries in progress fail, and PostgreSQL rolls back.
 * @param time in milliseconds since the epoch
 */
export function destroyAfter(client: PoolClient, time: number): { readonly isReached: boolean; cancel(): void } {
  // The driver's `end` would wait for the answers to all pipelined queries first, so the socket itself is destroyed.
  const { stream } = (client as unknown as { readonly connection: { readonly stream: Duplex } }).connection;
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

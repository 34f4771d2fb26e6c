import type { Duplex } from 'node:stream';
import type { Pool, PoolClient } from 'pg';
import { databaseError } from './database-error.ts';
import { deadlineExceeded } from '../base/errors.ts';

/**
 * A connection of the pool; one that comes too late goes back. @param deadline in milliseconds of the epoch
 * @throws AppError database_busy, database_unavailable, deadline_exceeded
 */
export async function connect(pool: Pool, deadline: number): Promise<PoolClient> {
  const connecting = pool.connect();
  let timer: NodeJS.Timeout | undefined;
  const expired = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => reject(deadlineExceeded()), Math.max(0, deadline - Date.now()));
  });
  try {
    return await Promise.race([connecting, expired]);
  } catch (error) {
    connecting.then(
      (client) => client.release(),
      () => {},
    );
    throw databaseError(error);
  } finally {
    clearTimeout(timer);
  }
}

/** Cuts the connection at that time, unless the limit is lifted before: what waits for an answer fails, and PostgreSQL rolls back. */
export function destroyAfter(client: PoolClient, time: number): { readonly isReached: boolean; lift(): void } {
  // The driver has no other way: told to end, a pipelined connection waits for all its answers first.
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
    lift: () => clearTimeout(timer),
  };
}

import type { Duplex } from 'node:stream';
import type { Pool, PoolClient } from 'pg';
import { databaseError } from './database-error.ts';
import { deadlineExceeded } from '../base/errors.ts';
import { withTimeout } from '../base/with-timeout.ts';

/**
 * A connection of the pool; one that comes too late goes back. @param deadline in milliseconds of the epoch
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

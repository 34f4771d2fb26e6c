import type { Duplex } from 'node:stream';
import type { PoolClient } from 'pg';
import type { BoundStatement } from './bound-text.ts';

/** The driver's connection below its client, which its types do not declare; test/entities/driver-members.test.ts pins what is used. */
export interface Wire {
  readonly stream: Duplex;
  parse(statement: { readonly name: string; readonly text: string }): void;
  bind(values: { readonly statement: string; readonly values: BoundStatement['values'] }): void;
  describe(portal: { readonly type: 'P' }): void;
  execute(portal: object): void;
  close(statement: { readonly type: 'S'; readonly name: string }): void;
  sync(): void;
}

export function wireOf(client: PoolClient): Wire {
  return (client as unknown as { readonly connection: Wire }).connection;
}

/**
 * Destroys the connection at the given time unless `cancel` is called before: queries in progress fail, and PostgreSQL rolls back.
 * @param time in milliseconds since the epoch
 */
export function destroyAfter(client: PoolClient, time: number): { readonly isReached: boolean; cancel(): void } {
  // The driver's `end` would wait for the answers to all pipelined queries first, so the socket itself is destroyed.
  const { stream } = wireOf(client);
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

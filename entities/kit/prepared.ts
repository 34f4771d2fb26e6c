import type { PoolClient } from 'pg';
import { RecentlyUsed } from './recently-used.ts';

/** Most statements that one connection keeps prepared: the server holds a plan for each, in memory of its own. */
const mostPrepared = 100;

interface Prepared {
  /** Never the same twice: a name may still be known to the server after an error. */
  readonly name: string;
}

/** What one connection has prepared. Its server process forgets the statement that was not asked for the longest. */
export class PreparedStatements {
  #next = 1;
  #dropped: string[] = [];
  readonly #known = new RecentlyUsed<Prepared>(mostPrepared, ({ name }) => void this.#dropped.push(name));

  /** The name of a statement on this connection, and whether it has to be prepared under it now. */
  take(text: string): { readonly name: string; readonly isNew: boolean } {
    const known = this.#known.get(text);
    if (known) return { name: known.name, isNew: false };
    const name = `s${this.#next++}`;
    this.#known.set(text, { name });
    return { name, isNew: true };
  }

  /** Names that have made room since the last call, to be closed on the connection. */
  takeDropped(): readonly string[] {
    const dropped = this.#dropped;
    if (dropped.length > 0) this.#dropped = [];
    return dropped;
  }

  /** After an error nobody knows which of them the server has. They are prepared anew, under other names. */
  forget(): void {
    this.#known.clear();
  }
}

const ofConnections = new WeakMap<PoolClient, PreparedStatements>();

export function preparedOn(client: PoolClient): PreparedStatements {
  let prepared = ofConnections.get(client);
  if (!prepared) {
    prepared = new PreparedStatements();
    ofConnections.set(client, prepared);
  }
  return prepared;
}

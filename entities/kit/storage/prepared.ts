import { LRUCache } from 'lru-cache';
import type { PoolClient } from 'pg';

/** Most statements that one connection keeps prepared: the server holds a plan for each, in memory of its own. */
const maxPrepared = 100;

/** Longest statement that stays prepared, in characters: what is that long comes once, and its plan would fill the memory. */
const maxPreparedLength = 50_000;

/** Most statements of which is remembered that they came once, and the longest of them, in characters. */
const maxSeen = 500;
const maxSeenLength = 10_000;

interface Prepared {
  /** Never the same twice: a name may still be known to the server after an error. */
  readonly name: string;
}

/** What one connection has prepared. Its server process forgets the statement that was not asked for the longest. */
export class PreparedStatements {
  #next = 1;
  #dropped: string[] = [];
  readonly #seen = new LRUCache<string, true>({ max: maxSeen });
  readonly #known = new LRUCache<string, Prepared>({
    max: maxPrepared,
    dispose: ({ name }) => void this.#dropped.push(name),
  });

  /** The name of a statement on this connection, and whether it has to be prepared under it now. */
  take(text: string): { readonly name: string; readonly isNew: boolean } {
    // The server keeps the statement without a name until the next one comes.
    if (text.length > maxPreparedLength) return { name: '', isNew: true };
    const known = this.#known.get(text);
    if (known) return { name: known.name, isNew: false };
    const name = `s${this.#next++}`;
    this.#known.set(text, { name });
    return { name, isNew: true };
  }

  /** The name of a statement that came before; one that comes for the first time may be the only one of its kind. */
  takeRepeated(text: string): string | undefined {
    if (text.length > maxSeenLength) return undefined;
    if (this.#seen.get(text)) return this.take(text).name;
    this.#seen.set(text, true);
    return undefined;
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

/** What the driver keeps of a connection, and offers to write with. */
export interface Wire {
  /** Texts by the names under which its own queries take them for prepared. */
  readonly parsedStatements: Record<string, string>;
  readonly stream: { cork(): void; uncork(): void };
  parse(statement: { readonly name: string; readonly text: string }): void;
  bind(values: { readonly statement: string; readonly values: readonly (string | null)[] }): void;
  execute(portal: object): void;
  close(statement: { readonly type: 'S'; readonly name: string }): void;
  sync(): void;
}

/** Lets the server forget what has made room, with the messages that follow. */
export function closeDropped(wire: Wire, prepared: PreparedStatements): void {
  for (const name of prepared.takeDropped()) {
    delete wire.parsedStatements[name];
    wire.close({ type: 'S', name });
  }
}

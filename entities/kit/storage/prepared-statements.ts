import { LRUCache } from 'lru-cache';
import type { PoolClient } from 'pg';

/** Maximum number of prepared statements of one connection: its server process keeps a plan for each in memory. */
const maxPrepared = 100;

/** Maximum length of a statement that stays prepared, in characters: longer ones rarely come again, and their plans are large. */
const maxPreparedLength = 50_000;

/** Maximum number of statements that are remembered as seen once, and their maximum length in characters. */
const maxSeen = 500;
const maxSeenLength = 10_000;

interface Prepared {
  /** Never used twice: after an error the server may still know a name. */
  readonly name: string;
}

/** The prepared statements of one connection. The least recently used one is dropped when there are too many. */
export class PreparedStatements {
  #next = 1;
  #dropped: string[] = [];
  readonly #seen = new LRUCache<string, true>({ max: maxSeen });
  readonly #known = new LRUCache<string, Prepared>({
    max: maxPrepared,
    dispose: ({ name }) => void this.#dropped.push(name),
  });

  /** The name of a statement on this connection, and whether it has to be prepared now (Parse). */
  take(text: string): { readonly name: string; readonly isNew: boolean } {
    // The unnamed statement is replaced by the next Parse of an unnamed statement.
    if (text.length > maxPreparedLength) return { name: '', isNew: true };
    const known = this.#known.get(text);
    if (known) return { name: known.name, isNew: false };
    const name = `s${this.#next++}`;
    this.#known.set(text, { name });
    return { name, isNew: true };
  }

  /** The name of a statement that was used before; undefined the first time, as it may never be used again. */
  takeRepeated(text: string): string | undefined {
    if (text.length > maxSeenLength) return undefined;
    if (this.#seen.get(text)) return this.take(text).name;
    this.#seen.set(text, true);
    return undefined;
  }

  /** Names of the statements dropped since the last call, to be closed on the connection. */
  takeDropped(): readonly string[] {
    const dropped = this.#dropped;
    if (dropped.length > 0) this.#dropped = [];
    return dropped;
  }

  /** Drops all statements after an error, when it is unknown which of them the server has. They are prepared again under new names. */
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

/** The part of the driver's connection object that is used here. */
export interface Wire {
  /** Texts of prepared statements by name, which the driver's own queries consult. */
  readonly parsedStatements: Record<string, string>;
  readonly stream: { cork(): void; uncork(): void };
  parse(statement: { readonly name: string; readonly text: string }): void;
  bind(values: { readonly statement: string; readonly values: readonly (string | null)[] }): void;
  execute(portal: object): void;
  close(statement: { readonly type: 'S'; readonly name: string }): void;
  sync(): void;
}

/** Writes Close messages for the dropped statements; they are sent together with the next query. */
export function closeDropped(wire: Wire, prepared: PreparedStatements): void {
  for (const name of prepared.takeDropped()) {
    delete wire.parsedStatements[name];
    wire.close({ type: 'S', name });
  }
}

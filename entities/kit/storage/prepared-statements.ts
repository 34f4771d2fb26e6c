import { LRUCache } from 'lru-cache';
import type { PoolClient } from 'pg';

/** Maximum number of prepared statements of one connection: its server process keeps a plan for each in memory. */
const maxPrepared = 100;

/** Maximum length of all prepared statements of one connection, in characters: the memory that plans take grows with it. */
const maxPreparedLength = 250_000;

/** Maximum length of a statement that is prepared, in characters: longer ones rarely come again, and their plans are large. */
const maxStatementLength = 50_000;

/** A statement is prepared when it comes for the third time, among this many others: most queries of callers come only once. */
const preparedAtUse = 3;
const maxSeen = 500;

/** The columns of a result. */
export type Columns = readonly { readonly name: string; readonly parse: (text: string) => unknown }[];

export interface Prepared {
  /** Never used twice: after an error the server may still know a name. Empty for a statement that is not prepared. */
  readonly name: string;
  /** Once the server has described them; PostgreSQL refuses a statement whose columns have changed since. */
  columns?: Columns;
}

/** The prepared statements of one connection. The least recently used ones are dropped when they are too many or too long. */
export class PreparedStatements {
  #next = 1;
  #dropped: string[] = [];
  /** Number of uses of statements that are not prepared. */
  readonly #seen = new LRUCache<string, number>({ max: maxSeen });
  readonly #known = new LRUCache<string, Prepared>({
    max: maxPrepared,
    maxSize: maxPreparedLength,
    sizeCalculation: (_prepared, text) => text.length,
    dispose: ({ name }) => void this.#dropped.push(name),
  });

  /**
   * A statement on this connection, and whether it has to be parsed now. It has no name unless it recurs: the next Parse of an unnamed
   * statement replaces it.
   */
  take(text: string): { readonly prepared: Prepared; readonly isNew: boolean } {
    const known = this.#known.get(text);
    if (known) return { prepared: known, isNew: false };
    if (!this.#recurs(text)) return { prepared: { name: '' }, isNew: true };
    const prepared = { name: `s${this.#next++}` };
    this.#known.set(text, prepared);
    return { prepared, isNew: true };
  }

  #recurs(text: string): boolean {
    if (text.length > maxStatementLength) return false;
    const uses = (this.#seen.get(text) ?? 0) + 1;
    this.#seen.set(text, uses);
    return uses >= preparedAtUse;
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
  readonly stream: { cork(): void; uncork(): void };
  parse(statement: { readonly name: string; readonly text: string }): void;
  bind(values: { readonly statement: string; readonly values: readonly (string | Buffer | null)[] }): void;
  describe(portal: { readonly type: 'P' }): void;
  execute(portal: object): void;
  close(statement: { readonly type: 'S'; readonly name: string }): void;
  sync(): void;
}

/** Writes Close messages for the dropped statements; they are sent together with the next query. */
export function closeDropped(wire: Wire, prepared: PreparedStatements): void {
  for (const name of prepared.takeDropped()) wire.close({ type: 'S', name });
}

import { LRUCache } from 'lru-cache';
import { Query, type FieldDef, type PoolClient, type QueryResult, type QueryResultRow } from 'pg';
import type { BoundStatement } from './bound-text.ts';
import { wireOf, type Wire } from './connection.ts';

/** Values of one row in the text format of PostgreSQL. */
export type TextRow = readonly (string | null)[];

export interface Answer<Row extends QueryResultRow> extends Pick<QueryResult<Row>, 'rows' | 'rowCount' | 'command'> {
  readonly texts: readonly TextRow[];
}

/** Result of statements that were sent together. */
export interface Outcome {
  /** Answers of the first ones, until one failed. */
  readonly answers: readonly Answer<QueryResultRow>[];
  /** The error of the one that failed; undefined when none did. */
  readonly error: Error | undefined;
}

/**
 * Sends statements with one Sync behind them: PostgreSQL answers all of them with one message, and skips those after one that fails.
 * Outside of a transaction they are one: it begins with the first, and is committed at the Sync (protocol, Pipelining). If that fails, no
 * statement has an answer. Statements that recur on a connection are prepared there, so that they are planned and described once.
 * Statements that are sent before the answers have come wait for them in PostgreSQL. Never throws.
 */
export function sendTogether(client: PoolClient, statements: readonly BoundStatement[]): Promise<Outcome> {
  return new Promise((resolve) => {
    const batch = new Batch(client, statements, resolve);
    try {
      client.query(batch);
    } catch (error) {
      // Some of the messages may have been sent.
      wireOf(client).stream.destroy();
      batch.handleError(error as Error);
    }
  });
}

/** A query of the driver that has several statements; the driver's own has one, and requests its description each time. */
class Batch extends Query {
  readonly #client: PoolClient;
  readonly #sent: readonly SentStatement[];
  readonly #resolve: (outcome: Outcome) => void;
  /** Number of statements that have ended. */
  #ended = 0;

  constructor(client: PoolClient, statements: readonly BoundStatement[], resolve: (outcome: Outcome) => void) {
    // The driver copies an object.
    super('');
    this.#client = client;
    this.#sent = statements.map((statement) => new SentStatement(statement));
    this.#resolve = resolve;
  }

  override submit = (connection: unknown): null => {
    const wire = connection as Wire;
    const prepared = preparedOn(this.#client);
    // Everything is sent with one write to the socket.
    wire.stream.cork();
    try {
      // Close comes first: PostgreSQL ignores the messages after one that fails, and these names would never be closed.
      for (const name of prepared.takeDropped()) wire.close({ type: 'S', name });
      for (const sent of this.#sent) sent.write(wire, prepared);
      wire.sync();
    } finally {
      wire.stream.uncork();
    }
    return null;
  };

  handleRowDescription({ fields }: { readonly fields: readonly FieldDef[] }): void {
    this.#sent[this.#ended]?.describe(fields, this.#client);
  }

  handleDataRow({ fields }: { readonly fields: TextRow }): void {
    this.#sent[this.#ended]?.texts.push(fields);
  }

  handleCommandComplete({ text }: { readonly text: string }): void {
    this.#sent[this.#ended]?.complete(text);
    this.#ended++;
  }

  handleEmptyQuery(): void {
    this.#ended++;
  }

  handleError(error: Error): void {
    // Which of the statements the server has prepared is unknown now.
    preparedOn(this.#client).forget();
    // After all have ended, it is the COMMIT at the Sync that fails.
    const ended = this.#ended === this.#sent.length ? 0 : this.#ended;
    this.#resolve({ answers: this.#sent.slice(0, ended), error });
  }

  handleReadyForQuery(): void {
    this.#resolve({ answers: this.#sent, error: undefined });
  }
}

/** The message at the end of a statement, for example `INSERT 0 1`, `SELECT 3` or `COMMIT`. */
const completion = /^([A-Z ]+?)(?: \d+)??(?: (\d+))?$/;

class SentStatement implements Answer<QueryResultRow> {
  readonly texts: TextRow[] = [];
  command = '';
  rowCount: number | null = null;
  readonly #statement: BoundStatement;
  #prepared: Prepared | undefined;
  #rows: QueryResultRow[] | undefined;

  constructor(statement: BoundStatement) {
    this.#statement = statement;
  }

  write(wire: Wire, statements: PreparedStatements): void {
    const { text, values } = this.#statement;
    const { prepared, isNew } = statements.take(text);
    this.#prepared = prepared;
    if (isNew) wire.parse({ name: prepared.name, text });
    wire.bind({ statement: prepared.name, values });
    if (!prepared.columns) wire.describe({ type: 'P' });
    wire.execute({});
  }

  describe(fields: readonly FieldDef[], client: PoolClient): void {
    if (!this.#prepared) return;
    this.#prepared.columns = fields.map(({ name, dataTypeID }) => ({
      name,
      parse: client.getTypeParser(dataTypeID, 'text'),
    }));
  }

  complete(message: string): void {
    const [, command = '', count] = completion.exec(message) ?? [];
    this.command = command;
    this.rowCount = count === undefined ? null : Number(count);
    // A statement that returns no rows has no description.
    if (this.#prepared) this.#prepared.columns ??= [];
  }

  /** Made from the texts where somebody wants them. @throws an error of the parser of a value */
  get rows(): QueryResultRow[] {
    this.#rows ??= this.texts.map((texts) => this.#rowOf(texts));
    return this.#rows;
  }

  #rowOf(texts: TextRow): QueryResultRow {
    const row: QueryResultRow = {};
    for (const [index, { name, parse }] of (this.#prepared?.columns ?? []).entries()) {
      const text = texts[index] ?? null;
      row[name] = text === null ? null : parse(text);
    }
    return row;
  }
}

/** Maximum number of prepared statements of one connection: its server process keeps a plan for each in memory. */
const maxPrepared = 100;

/** Maximum length of all prepared statements of one connection, in characters: the memory that plans take grows with it. */
const maxPreparedLength = 250_000;

/** Maximum length of a statement that is prepared, in characters: longer ones rarely come again, and their plans are large. */
const maxStatementLength = 50_000;

/** A statement is prepared when it comes for the third time, among this many others: most queries of callers come only once. */
const preparedAtUse = 3;
const maxSeen = 500;

interface Prepared {
  /** Never used twice: after an error the server may still know a name. Empty for a statement that is not prepared. */
  readonly name: string;
  /** Once the server has described them; PostgreSQL refuses a statement whose columns have changed since. */
  columns?: readonly { readonly name: string; readonly parse: (text: string) => unknown }[];
}

/** The prepared statements of one connection. The least recently used ones are dropped when they are too many or too long. */
class PreparedStatements {
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

function preparedOn(client: PoolClient): PreparedStatements {
  let prepared = ofConnections.get(client);
  if (!prepared) {
    prepared = new PreparedStatements();
    ofConnections.set(client, prepared);
  }
  return prepared;
}

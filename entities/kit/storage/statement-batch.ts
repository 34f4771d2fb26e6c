import { Query, type FieldDef, type PoolClient, type QueryResultRow } from 'pg';
import { streamOf } from './connection.ts';
import { closeDropped, preparedOn, type Wire } from './prepared-statements.ts';
import { SentStatement, type Answer, type TextRow } from './sent-statement.ts';
import type { Statement } from './sql.ts';

/** Batches to which statements are still added, by connection. */
const open = new WeakMap<PoolClient, StatementBatch>();

/** Runs one statement. What is run on the same connection before the next tick is sent together with it. */
export async function runStatement<Row extends QueryResultRow>(
  client: PoolClient,
  text: string,
  values: readonly unknown[],
): Promise<Answer<Row>> {
  const batch = open.get(client) ?? openBatch(client);
  return (await batch.add({ text, values })).answer<Row>();
}

/** The same for a statement that is not skipped when another one of its tick fails: those before it are sent with a Sync of their own. */
export function runStatementApart<Row extends QueryResultRow>(
  client: PoolClient,
  text: string,
  values: readonly unknown[],
): Promise<Answer<Row>> {
  sendOpen(client);
  return runStatement<Row>(client, text, values);
}

function openBatch(client: PoolClient): StatementBatch {
  const batch = new StatementBatch(client, true);
  open.set(client, batch);
  process.nextTick(() => {
    if (open.get(client) === batch) sendOpen(client);
  });
  return batch;
}

function sendOpen(client: PoolClient): void {
  const batch = open.get(client);
  open.delete(client);
  batch?.send();
}

/**
 * Runs statements together, as a transaction of their own: PostgreSQL begins one with the first statement after a Sync, and commits it at
 * the next Sync (protocol, Pipelining).
 * @returns the rows of each, in the text format, once all are committed
 */
export async function runTogether(
  client: PoolClient,
  statements: readonly Statement[],
): Promise<readonly (readonly TextRow[])[]> {
  const batch = new StatementBatch(client, false);
  const ended = Promise.all(statements.map((statement) => batch.add(statement)));
  batch.send();
  return (await ended).map(({ texts }) => texts);
}

/**
 * Statements before one Sync: PostgreSQL answers all of them with one message, and skips those after one that fails. Those that recur are
 * prepared on their connection, so that they are planned and described once; the driver's own query has one statement, and requests its
 * description each time.
 */
class StatementBatch extends Query {
  readonly #client: PoolClient;
  readonly #needsColumns: boolean;
  readonly #sent: SentStatement[] = [];
  /** Number of statements that have ended. */
  #ended = 0;

  /** @param needsColumns see `SentStatement` */
  constructor(client: PoolClient, needsColumns: boolean) {
    // The driver copies an object.
    super('');
    this.#client = client;
    this.#needsColumns = needsColumns;
  }

  /** Resolves when all statements of the batch have ended. */
  add(statement: Statement): Promise<SentStatement> {
    const sent = new SentStatement(statement, this.#needsColumns);
    this.#sent.push(sent);
    return sent.ended;
  }

  send(): void {
    try {
      this.#client.query(this);
    } catch (error) {
      // Some of the messages may have been sent.
      streamOf(this.#client).destroy();
      this.handleError(error as Error);
    }
  }

  override submit = (connection: unknown): null => {
    const wire = connection as Wire;
    const prepared = preparedOn(this.#client);
    // Everything is sent with one write to the socket.
    wire.stream.cork();
    try {
      // Close comes first: PostgreSQL ignores the messages after one that fails, and these names would never be closed.
      closeDropped(wire, prepared);
      for (const sent of this.#sent) sent.write(wire, prepared);
      wire.sync();
    } finally {
      wire.stream.uncork();
    }
    return null;
  };

  get #current(): SentStatement | undefined {
    return this.#sent[this.#ended];
  }

  handleRowDescription({ fields }: { readonly fields: readonly FieldDef[] }): void {
    this.#current?.describe(fields, this.#client);
  }

  handleDataRow({ fields }: { readonly fields: TextRow }): void {
    this.#current?.texts.push(fields);
  }

  handleCommandComplete({ text }: { readonly text: string }): void {
    this.#current?.complete(text);
    this.#ended++;
  }

  handleEmptyQuery(): void {
    this.#ended++;
  }

  /** Statements that were skipped are rejected with the error of the one that failed: PostgreSQL says no more of them. */
  handleError(error: Error): void {
    // Which of the statements the server has prepared is unknown now.
    preparedOn(this.#client).forget();
    // After all have ended, it is the COMMIT at the Sync that fails: then none of them counts.
    const ended = this.#ended === this.#sent.length ? 0 : this.#ended;
    for (const [index, sent] of this.#sent.entries()) {
      if (index < ended) sent.resolve();
      else sent.reject(error);
    }
  }

  handleReadyForQuery(): void {
    for (const sent of this.#sent) sent.resolve();
  }
}

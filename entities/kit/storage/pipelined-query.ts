import { Query, type PoolClient } from 'pg';
import { destroyAfter } from './connection.ts';
import type { ConnectionQueue } from './connection-queue.ts';
import { databaseError } from './database-error.ts';
import { deadlineExceeded } from '../base/errors.ts';
import { sessionSettings } from './orm-schema.ts';
import { closeDropped, preparedOn, type PreparedStatements, type Wire } from './prepared-statements.ts';
import type { Statement } from './sql.ts';
import { endTimeoutMs, type StatementObserver, type TransactionSettings } from './transaction.ts';

/** Values of one row in the text format of PostgreSQL. */
export type TextRow = readonly (string | null)[];

type ReadSettings = Omit<TransactionSettings, 'role' | 'readOnly'>;

/** Number of messages of a pipelined read of one statement, besides a precondition: settings, the read itself, and the end of the transaction. */
export const pipelinedMessages = 3;

const settingsText = `select set_config('${sessionSettings.organizationId}', $1, true), set_config('${sessionSettings.userId}', $2, true),
  set_config('statement_timeout', $3, true), set_config('transaction_read_only', 'on', true)`;

/**
 * Runs a read-only transaction under the app role. Tenant settings, precondition, statements and Sync are sent together, so it costs
 * one round trip: PostgreSQL runs everything before a Sync as one transaction and ends it there (protocol, Pipelining).
 * @returns the rows of each statement
 * @throws AppError for expected errors (`databaseError`); other database errors as they are
 */
export async function pipelinedRead(
  connections: ConnectionQueue,
  settings: ReadSettings,
  statements: readonly Statement[],
  observer?: StatementObserver,
): Promise<readonly (readonly TextRow[])[]> {
  const leftMs = Math.ceil(settings.deadline - Date.now());
  if (leftMs <= 0) throw deadlineExceeded();
  const { precondition } = settings;
  const values = [settings.organizationId ?? '', settings.userId ?? '', String(leftMs)];
  const before = [{ text: settingsText, values }, ...(precondition ? [precondition] : [])];
  const answers = await runPipelined(connections, settings, [...before, ...statements], observer);
  precondition?.check(answers[1]?.[0]?.[0] ?? null);
  return statements.map((_statement, index) => answers[before.length + index] ?? []);
}

/** @returns the rows of each statement */
async function runPipelined(
  connections: ConnectionQueue,
  settings: ReadSettings,
  statements: readonly Statement[],
  observer: StatementObserver | undefined,
): Promise<readonly (readonly TextRow[])[]> {
  const client = await connections.connect({ ...settings, role: 'app' }, settings.deadline);
  const limit = destroyAfter(client, settings.deadline + endTimeoutMs);
  const startedAt = performance.now();
  let isFailed = true;
  try {
    const answers = await sendPipelined(client, statements);
    isFailed = false;
    client.release();
    return answers;
  } catch (error) {
    preparedOn(client).forget();
    // PostgreSQL has rolled back after an error of a statement; after any other error the state of the connection is unknown.
    client.release((error as { readonly severity?: string }).severity !== 'ERROR');
    throw limit.isReached ? deadlineExceeded(error) : databaseError(error);
  } finally {
    limit.cancel();
    observer?.statement({
      text: statements.at(-1)?.text ?? '',
      durationMs: performance.now() - startedAt,
      isFailed,
      traceparent: settings.traceparent?.(),
    });
  }
}

/** @returns the rows of each statement, in the order of the statements */
function sendPipelined(client: PoolClient, statements: readonly Statement[]): Promise<readonly (readonly TextRow[])[]> {
  return new Promise((resolve, reject) => {
    const query = new PipelinedQuery(statements, preparedOn(client), (error) => {
      if (error) reject(error);
      else resolve(query.answers);
    });
    client.query(query);
  });
}

/**
 * Several statements before one Sync; those that recur are prepared on their connection. A query of the driver has one statement, and requests
 * descriptions of the columns, which are not needed here.
 */
class PipelinedQuery extends Query {
  readonly #statements: readonly Statement[];
  readonly #prepared: PreparedStatements;
  /** Not called `rows`: the driver's class has a property of that name. */
  readonly answers: TextRow[][] = [[]];
  readonly callback: (error: Error | null) => void;

  constructor(statements: readonly Statement[], prepared: PreparedStatements, done: (error: Error | null) => void) {
    super({ text: '' });
    this.#statements = statements;
    this.#prepared = prepared;
    this.callback = done;
  }

  override submit = (connection: unknown): null => {
    const wire = connection as Wire;
    // Everything is sent with one write to the socket.
    wire.stream.cork();
    try {
      // Close comes first: PostgreSQL ignores the messages after one that fails, and these names would never be closed.
      closeDropped(wire, this.#prepared);
      for (const { text, values } of this.#statements) {
        const { name, isNew } = this.#prepared.take(text);
        if (isNew) {
          wire.parse({ name, text });
          if (name !== '') wire.parsedStatements[name] = text;
        }
        wire.bind({ statement: name, values: values.map(boundText) });
        wire.execute({});
      }
      wire.sync();
    } finally {
      wire.stream.uncork();
    }
    return null;
  };

  handleDataRow({ fields }: { readonly fields: TextRow }): void {
    this.answers.at(-1)?.push(fields);
  }

  handleCommandComplete(): void {
    this.answers.push([]);
  }

  handleError(error: Error): void {
    this.callback(error);
  }

  handleReadyForQuery(): void {
    this.callback(null);
  }
}

/** A value in the text format of PostgreSQL. */
function boundText(value: unknown): string | null {
  if (value === null || value === undefined) return null;
  if (typeof value === 'string') return value;
  if (value instanceof Date) return value.toISOString();
  if (Array.isArray(value)) return `{${value.map(arrayElement).join()}}`;
  return typeof value === 'number' || typeof value === 'boolean' ? String(value) : JSON.stringify(value);
}

/** An element of an array literal, with quotes and backslashes escaped. */
function arrayElement(value: unknown): string {
  const text = boundText(value);
  return text === null ? 'NULL' : `"${text.replaceAll(/["\\]/g, '\\$&')}"`;
}

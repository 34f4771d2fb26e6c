import { Query, type Pool, type PoolClient } from 'pg';
import { connect, destroyAfter } from './connection.ts';
import { databaseError } from './database-error.ts';
import { deadlineExceeded } from '../base/errors.ts';
import { sessionSettings } from './orm-schema.ts';
import { closeDropped, preparedOn, type PreparedStatements, type Wire } from './prepared.ts';
import type { Statement } from './sql.ts';
import { patienceMs, type StatementObserver, type TransactionSettings } from './transaction.ts';

/** Values of one row as PostgreSQL writes them. */
type TextRow = readonly (string | null)[];

/** Messages of a lone read: the settings, the statement, and the end of the transaction. */
export const pipelinedMessages = 3;

const settingsText = `select set_config('${sessionSettings.organizationId}', $1, true), set_config('${sessionSettings.userId}', $2, true),
  set_config('statement_timeout', $3, true), set_config('transaction_read_only', 'on', true)`;

/**
 * A read only transaction of one statement, under the app role: tenant settings, statement and end travel as one message
 * sequence, so it costs one round trip. PostgreSQL takes what stands before one Sync as a transaction (protocol, Pipelining), and
 * ends it there; when that fails, so does this.
 * @throws AppError for what a caller can do something about; other database errors as they are.
 */
export async function pipelinedRead(
  pool: Pool,
  settings: Pick<TransactionSettings, 'organizationId' | 'userId' | 'deadline' | 'traceparent'>,
  statement: Statement,
  observer?: StatementObserver,
): Promise<readonly TextRow[]> {
  const leftMs = Math.ceil(settings.deadline - Date.now());
  if (leftMs <= 0) throw deadlineExceeded();
  const client = await connect(pool, settings.deadline);
  const limit = destroyAfter(client, settings.deadline + patienceMs);
  const startedAt = performance.now();
  let isFailed = true;
  try {
    const values = [settings.organizationId ?? '', settings.userId ?? '', String(leftMs)];
    const [, rows = []] = await fly(client, [{ text: settingsText, values }, statement]);
    isFailed = false;
    client.release();
    return rows;
  } catch (error) {
    preparedOn(client).forget();
    // After an error of a statement PostgreSQL has rolled back; of everything else it is not known how the connection stands.
    client.release((error as { readonly severity?: string }).severity !== 'ERROR');
    throw limit.isReached ? deadlineExceeded(error) : databaseError(error);
  } finally {
    limit.lift();
    observer?.statement({
      text: statement.text,
      durationMs: performance.now() - startedAt,
      isFailed,
      traceparent: settings.traceparent?.(),
    });
  }
}

/** Rows of each statement, in the order of the statements. */
function fly(client: PoolClient, statements: readonly Statement[]): Promise<readonly (readonly TextRow[])[]> {
  return new Promise((resolve, reject) => {
    const flight = new Flight(statements, preparedOn(client), (error) => {
      if (error) reject(error);
      else resolve(flight.answers);
    });
    client.query(flight);
  });
}

/**
 * Several statements before one Sync, each prepared on its connection. The driver's own queries have one each, and ask for
 * descriptions of columns that are known here.
 */
class Flight extends Query {
  readonly #statements: readonly Statement[];
  readonly #prepared: PreparedStatements;
  /** Not `rows`, by which the driver means something else. */
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
    // One write for all of it.
    wire.stream.cork();
    try {
      // First of all: what follows a message that fails is not looked at, and nobody would close these names again.
      closeDropped(wire, this.#prepared);
      for (const { text, values } of this.#statements) {
        const { name, isNew } = this.#prepared.take(text);
        if (isNew) {
          wire.parse({ name, text });
          wire.parsedStatements[name] = text;
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

/** A value in the form in which PostgreSQL reads it. */
function boundText(value: unknown): string | null {
  if (value === null || value === undefined) return null;
  if (typeof value === 'string') return value;
  if (value instanceof Date) return value.toISOString();
  if (Array.isArray(value)) return `{${value.map(element).join()}}`;
  return typeof value === 'number' || typeof value === 'boolean' ? String(value) : JSON.stringify(value);
}

/** Within a list, backslashes and quotes end nothing. */
function element(value: unknown): string {
  const text = boundText(value);
  return text === null ? 'NULL' : `"${text.replaceAll(/["\\]/g, '\\$&')}"`;
}

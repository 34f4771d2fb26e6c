import { Query, type PoolClient } from 'pg';
import { destroyAfter } from './connection.ts';
import type { ConnectionQueue } from './connection-queue.ts';
import { databaseError } from './database-error.ts';
import { deadlineExceeded } from '../base/errors.ts';
import { databaseRoles, sessionSettings } from './orm-schema.ts';
import { closeDropped, preparedOn, type PreparedStatements, type Wire } from './prepared-statements.ts';
import type { Statement } from './sql.ts';
import { commitUnknown, endTimeoutMs, type StatementObserver, type TransactionSettings } from './transaction.ts';

/** Values of one row in the text format of PostgreSQL. */
export type TextRow = readonly (string | null)[];

type ReadSettings = Omit<TransactionSettings, 'role' | 'readOnly'>;
/** A change cannot be taken back once its answer is there, so it depends on nothing that is answered with it. */
type ChangeSettings = Omit<TransactionSettings, 'readOnly' | 'precondition'>;

/** Number of messages of a pipelined transaction of one statement, besides a precondition: settings, the statement itself, and the end. */
export const pipelinedMessages = 3;

const commonSettings = `select set_config('${sessionSettings.organizationId}', $1, true), set_config('${sessionSettings.userId}', $2, true),
  set_config('statement_timeout', $3, true)`;
const readSettings = `${commonSettings}, set_config('transaction_read_only', 'on', true)`;
const changeSettings = `${commonSettings}, set_config('role', $4, true)`;

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
  const values = valuesOf(settings);
  const { precondition } = settings;
  const before = [{ text: readSettings, values }, ...(precondition ? [precondition] : [])];
  const answers = await runPipelined(connections, { ...settings, role: 'app' }, [...before, ...statements], observer);
  precondition?.check(answers[1]?.[0]?.[0] ?? null);
  return statements.map((_statement, index) => answers[before.length + index] ?? []);
}

/**
 * Runs one statement that changes rows as a transaction of its own, which costs one round trip: settings, statement and Sync are sent
 * together, and PostgreSQL commits at the Sync.
 * @returns its rows
 * @throws AppError for expected errors (`databaseError`), database_unavailable when it is unknown whether it was committed; other database
 * errors as they are
 */
export async function pipelinedChange(
  connections: ConnectionQueue,
  settings: ChangeSettings,
  statement: Statement,
  observer?: StatementObserver,
): Promise<readonly TextRow[]> {
  const before = { text: changeSettings, values: [...valuesOf(settings), databaseRoles[settings.role]] };
  const answers = await runPipelined(connections, settings, [before, statement], observer, commitUnknown);
  return answers[1] ?? [];
}

/** @throws AppError deadline_exceeded */
function valuesOf({ deadline, organizationId, userId }: Omit<ChangeSettings, 'role'>): string[] {
  const leftMs = Math.ceil(deadline - Date.now());
  if (leftMs <= 0) throw deadlineExceeded();
  return [organizationId ?? '', userId ?? '', String(leftMs)];
}

/**
 * @param ofChange the error to report instead, when statements change rows
 * @returns the rows of each statement
 */
async function runPipelined(
  connections: ConnectionQueue,
  settings: ChangeSettings,
  statements: readonly Statement[],
  observer: StatementObserver | undefined,
  ofChange?: (error: unknown) => unknown,
): Promise<readonly (readonly TextRow[])[]> {
  const client = await connections.connect(settings, settings.deadline);
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
    const failure = databaseError(error, settings.role);
    if (ofChange) throw ofChange(failure);
    throw limit.isReached ? deadlineExceeded(error) : failure;
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

import { destroyAfter } from './connection.ts';
import type { ConnectionQueue } from './connection-queue.ts';
import { commitUnknown, databaseError } from './database-error.ts';
import { deadlineExceeded } from '../base/errors.ts';
import type { TextRow } from './sent-statement.ts';
import { readSettingsStatement, settingsStatement } from './settings-statement.ts';
import type { Statement } from './sql.ts';
import { runTogether } from './statement-batch.ts';
import { endTimeoutMs, type StatementObserver, type TransactionSettings } from './transaction.ts';

type ReadSettings = Omit<TransactionSettings, 'readOnly'>;
/** A change cannot be taken back once its answer is there, so it depends on nothing that is answered with it. */
type ChangeSettings = Omit<TransactionSettings, 'readOnly' | 'precondition'>;

/** Number of messages of a pipelined transaction of one statement, besides a precondition: settings, the statement itself, and the end. */
export const pipelinedMessages = 3;

/**
 * Runs a read-only transaction. Tenant settings, precondition, statements and Sync are sent together, so it costs
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
  const { precondition } = settings;
  const before = [readSettingsStatement(settings, timeLeft(settings)), ...(precondition ? [precondition] : [])];
  const answers = await runPipelined(connections, settings, [...before, ...statements], observer);
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
  const before = settingsStatement(settings, timeLeft(settings));
  const answers = await runPipelined(connections, settings, [before, statement], observer, commitUnknown);
  return answers[1] ?? [];
}

/** In milliseconds. @throws AppError deadline_exceeded */
function timeLeft({ deadline }: Pick<ChangeSettings, 'deadline'>): number {
  const leftMs = Math.ceil(deadline - Date.now());
  if (leftMs <= 0) throw deadlineExceeded();
  return leftMs;
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
    const answers = await runTogether(client, statements);
    isFailed = false;
    client.release();
    return answers;
  } catch (error) {
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

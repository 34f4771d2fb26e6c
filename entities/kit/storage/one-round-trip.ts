import type { QueryResultRow } from 'pg';
import { deadlineExceeded } from '../base/errors.ts';
import { bind, type BoundStatement } from './bound-text.ts';
import { destroyAfter } from './connection.ts';
import type { ConnectionOwner } from './connection-queue.ts';
import { commitUnknown, databaseError } from './database-error.ts';
import { sendTogether, type Answer, type TextRow } from './send-together.ts';
import type { Statement } from './sql.ts';
import { endTimeoutMs, timeLeft, Transaction, type StatementSource, type TransactionSettings } from './transaction.ts';
import { readSettingsStatement, settingsStatement } from './transaction-settings.ts';

type ReadSettings = Omit<TransactionSettings, 'readOnly'>;
/** A change cannot be taken back once its answer is there, so it depends on nothing that is answered with it. */
type ChangeSettings = Omit<TransactionSettings, 'readOnly' | 'precondition'>;
/** For whom a statement outside any transaction works, and until when. */
type OutsideSettings = ConnectionOwner & Pick<TransactionSettings, 'deadline' | 'traceparent'>;

/** Number of messages of a transaction of one statement, besides a precondition: settings, the statement itself, and the end. */
export const pipelinedMessages = 3;

/**
 * Runs a read-only transaction. Tenant settings, precondition and statements are sent together, so it costs one round trip.
 * @returns the rows of each statement
 * @throws AppError for expected errors (`databaseError`); other database errors as they are
 */
export async function pipelinedRead(
  source: StatementSource,
  settings: ReadSettings,
  statements: readonly Statement[],
): Promise<readonly (readonly TextRow[])[]> {
  const { precondition } = settings;
  const before = [readSettingsStatement(settings, timeLeft(settings)), ...(precondition ? [precondition] : [])];
  const answers = await sendAlone(source, settings, {
    statements: [...before, ...statements.map(bind)],
    destroyAt: settings.deadline + endTimeoutMs,
    failure: (error, isLate) => (isLate ? deadlineExceeded(error) : databaseError(error, settings.role)),
  });
  precondition?.check(answers[1]?.texts[0]?.[0] ?? null);
  return answers.slice(before.length).map(({ texts }) => texts);
}

/**
 * Runs one statement that changes rows as a transaction of its own, in one round trip. A hook does not take part in its commit.
 * @returns its rows
 * @throws AppError for expected errors (`databaseError`), database_unavailable when it is unknown whether it was committed; other database
 * errors as they are
 */
export async function pipelinedChange(
  source: StatementSource,
  settings: ChangeSettings,
  statement: Statement,
): Promise<readonly TextRow[]> {
  const answers = await sendAlone(source, settings, {
    statements: [settingsStatement(settings, timeLeft(settings)), bind(statement)],
    destroyAt: settings.deadline + endTimeoutMs,
    failure: (error) => commitUnknown(databaseError(error, settings.role)),
  });
  return answers[1]?.texts ?? [];
}

/**
 * Runs one statement that only reads, outside any transaction.
 * @param settings its deadline is when the query is aborted, in milliseconds since the epoch
 * @throws AppError database_busy, database_unavailable, deadline_exceeded
 */
export async function queryOutsideTransaction<Row extends QueryResultRow>(
  source: StatementSource,
  settings: OutsideSettings,
  statement: Statement,
): Promise<Answer<Row>> {
  return sendOutside<Row>(source, settings, statement, (error) => error);
}

/**
 * The same for one that changes rows, and commits it.
 * @throws AppError database_busy, deadline_exceeded, database_unavailable when it is unknown whether it was committed
 */
export async function changeOutsideTransaction<Row extends QueryResultRow>(
  source: StatementSource,
  settings: OutsideSettings,
  statement: Statement,
): Promise<Answer<Row>> {
  if (!source.options.hook) return sendOutside<Row>(source, settings, statement, commitUnknown);
  const transaction = await Transaction.begin(source, { ...settings, role: 'app', readOnly: false });
  try {
    const answer = await transaction.query<Row>('app', statement.text, statement.values);
    await transaction.commit();
    return answer;
  } catch (error) {
    await transaction.rollback();
    throw error;
  }
}

/** @param whenSent the error to report instead, once the statement was sent */
async function sendOutside<Row extends QueryResultRow>(
  source: StatementSource,
  settings: OutsideSettings,
  statement: Statement,
  whenSent: (error: unknown) => unknown,
): Promise<Answer<Row>> {
  timeLeft(settings);
  const [answer] = await sendAlone(source, settings, {
    statements: [bind(statement)],
    destroyAt: settings.deadline,
    // It runs under the role of new connections.
    failure: (error, isLate) => (isLate ? deadlineExceeded(error) : whenSent(databaseError(error))),
  });
  return answer as Answer<Row>;
}

interface Sending {
  readonly statements: readonly BoundStatement[];
  /** When the connection is destroyed, in milliseconds since the epoch. */
  readonly destroyAt: number;
  /** The error to report. @param isLate the connection was destroyed */
  readonly failure: (error: Error, isLate: boolean) => unknown;
}

/** Sends statements on a connection of their own. @returns the answer to each */
async function sendAlone(
  { connections, options }: StatementSource,
  settings: OutsideSettings,
  { statements, destroyAt, failure }: Sending,
): Promise<readonly Answer<QueryResultRow>[]> {
  const client = await connections.connect(settings, settings.deadline);
  const limit = destroyAfter(client, destroyAt);
  const startedAt = performance.now();
  const { answers, error } = await sendTogether(client, statements);
  limit.cancel();
  // PostgreSQL has rolled back after an error of a statement; after any other error the state of the connection is unknown.
  client.release(error !== undefined && (error as { readonly severity?: string }).severity !== 'ERROR');
  options.observer?.statement({
    text: statements.at(-1)?.text ?? '',
    durationMs: performance.now() - startedAt,
    isFailed: error !== undefined,
    traceparent: settings.traceparent?.(),
  });
  if (error) throw failure(error, limit.isReached);
  return answers;
}

import type { QueryResultRow } from 'pg';
import { destroyAfter } from './connection.ts';
import type { ConnectionOwner, ConnectionQueue } from './connection-queue.ts';
import { commitUnknown, databaseError } from './database-error.ts';
import { deadlineExceeded } from '../base/errors.ts';
import type { Answer } from './sent-statement.ts';
import type { Statement } from './sql.ts';
import { runStatement } from './statement-batch.ts';
import { Transaction, type StatementObserver } from './transaction.ts';

/** The part of a database that work without a unit of work needs. */
export interface StatementSource {
  readonly connections: ConnectionQueue;
  readonly options: { readonly observer?: StatementObserver };
}

/** Who is told of a statement, and the span to which it belongs. */
export interface Report {
  readonly observer: StatementObserver | undefined;
  readonly traceparent: string;
}

/**
 * Runs one statement that only reads, outside any transaction.
 * @param deadline when the query is aborted, in milliseconds since the epoch
 * @throws AppError database_busy, database_unavailable, deadline_exceeded
 */
export async function queryOutsideTransaction<Row extends QueryResultRow>(
  connections: ConnectionQueue,
  owner: ConnectionOwner,
  statement: Statement,
  deadline: number,
  report?: Report,
): Promise<Answer<Row>> {
  return runAlone(connections, owner, statement, deadline, report, (error) => error);
}

/** @param whenSent the error to report instead, once the statement was sent */
async function runAlone<Row extends QueryResultRow>(
  connections: ConnectionQueue,
  owner: ConnectionOwner,
  { text, values }: Statement,
  deadline: number,
  report: Report | undefined,
  whenSent: (error: unknown) => unknown,
): Promise<Answer<Row>> {
  if (deadline <= Date.now()) throw deadlineExceeded();
  const client = await connections.connect(owner, deadline);
  const limit = destroyAfter(client, deadline);
  const startedAt = performance.now();
  let isFailed = true;
  try {
    const result = await runStatement<Row>(client, text, values);
    isFailed = false;
    client.release();
    return result;
  } catch (error) {
    client.release(true);
    throw limit.isReached ? deadlineExceeded(error) : whenSent(databaseError(error));
  } finally {
    limit.cancel();
    const durationMs = performance.now() - startedAt;
    report?.observer?.statement({ text, durationMs, isFailed, traceparent: report.traceparent });
  }
}

/**
 * Runs one statement that changes rows, and commits it: by itself, or in both databases where there is a second one.
 * @param deadline when the query is aborted, in milliseconds since the epoch
 * @throws AppError database_busy, deadline_exceeded, database_unavailable when it is unknown whether it was committed
 */
export async function changeOutsideTransaction<Row extends QueryResultRow>(
  connections: ConnectionQueue,
  owner: ConnectionOwner,
  statement: Statement,
  deadline: number,
  report?: Report,
): Promise<Answer<Row>> {
  if (!connections.second) return runAlone(connections, owner, statement, deadline, report, commitUnknown);
  const settings = {
    ...owner,
    role: 'app',
    readOnly: false,
    deadline,
    traceparent: () => report?.traceparent,
  } as const;
  const transaction = await Transaction.begin(connections, settings, report?.observer);
  try {
    const result = await transaction.query<Row>('app', statement.text, statement.values);
    await transaction.commit();
    return result;
  } catch (error) {
    await transaction.rollback();
    throw error;
  }
}

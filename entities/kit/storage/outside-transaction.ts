import type { QueryResultRow } from 'pg';
import { destroyAfter } from './connection.ts';
import type { ConnectionOwner, ConnectionQueue } from './connection-queue.ts';
import { databaseError } from './database-error.ts';
import { deadlineExceeded } from '../base/errors.ts';
import type { Answer } from './sent-statement.ts';
import type { Statement } from './sql.ts';
import { runStatement } from './statement-batch.ts';
import { Transaction } from './transaction.ts';

/**
 * Runs one statement that only reads, outside any transaction.
 * @param deadline when the query is aborted, in milliseconds since the epoch
 * @throws AppError database_busy, database_unavailable, deadline_exceeded
 */
export async function queryOutsideTransaction<Row extends QueryResultRow>(
  connections: ConnectionQueue,
  owner: ConnectionOwner,
  { text, values }: Statement,
  deadline: number,
): Promise<Answer<Row>> {
  if (deadline <= Date.now()) throw deadlineExceeded();
  const client = await connections.connect(owner, deadline);
  const limit = destroyAfter(client, deadline);
  try {
    const result = await runStatement<Row>(client, text, values);
    client.release();
    return result;
  } catch (error) {
    client.release(true);
    throw limit.isReached ? deadlineExceeded(error) : databaseError(error);
  } finally {
    limit.cancel();
  }
}

/**
 * Runs one statement that changes rows, and commits it: by itself, or in both databases where there is a second one.
 * @param deadline when the query is aborted, in milliseconds since the epoch
 * @throws AppError database_busy, database_unavailable, deadline_exceeded
 */
export async function changeOutsideTransaction<Row extends QueryResultRow>(
  connections: ConnectionQueue,
  owner: ConnectionOwner,
  statement: Statement,
  deadline: number,
): Promise<Answer<Row>> {
  if (!connections.second) return queryOutsideTransaction(connections, owner, statement, deadline);
  const transaction = await Transaction.begin(connections, { ...owner, role: 'app', readOnly: false, deadline });
  try {
    const result = await transaction.query<Row>('app', statement.text, statement.values);
    await transaction.commit();
    return result;
  } catch (error) {
    await transaction.rollback();
    throw error;
  }
}

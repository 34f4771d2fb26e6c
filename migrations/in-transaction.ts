import type { MikroORM, Transaction } from '@mikro-orm/postgresql';
import type { Execute } from './functions.ts';

/** Runs statements and the migrator in one transaction. */
export async function inTransaction<T>(
  orm: MikroORM,
  work: (execute: Execute, transaction: Transaction) => Promise<T>,
): Promise<T> {
  // The migrator makes its table outside of the transaction, on the only connection.
  await orm.migrator.getPending();
  const connection = orm.em.getConnection();
  return connection.transactional((transaction) =>
    work((text) => connection.execute(text, [], 'all', transaction), transaction),
  );
}

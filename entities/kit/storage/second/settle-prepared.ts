import type { Logger } from 'pino';
import type { QueryDatabase } from '../database-hook.ts';
import type { SecondDatabase } from './second-database.ts';

/** Pause between two times, in milliseconds. Transactions that change the same rows wait for those prepared in the second database. */
const pauseMs = 1_000;

interface Settled {
  readonly committed: number;
  readonly rolledBack: number;
  /** Names of prepared transactions of which this primary database knows nothing: it was restored from a backup, perhaps. */
  readonly unknown: readonly string[];
}

/**
 * Ends what is prepared in the second database and was left behind, by a process or a server that died: as the primary database decided.
 * Transactions that are still under way in the primary database are left alone. Any number of processes may do this at the same time.
 * @param primary with the rights of the system role or the owner
 */
export async function settlePrepared(primary: QueryDatabase, second: SecondDatabase): Promise<Settled> {
  // Read before the list of prepared transactions: a decided transaction that is no longer in that list has been committed.
  const [decided] = await primary<{ installation: string; xids: string[] }>(
    'select installation_id() as installation, decided_commits() as xids',
    [],
  );
  if (!decided) throw new Error('the primary database does not answer what it decided');
  const prepared = await second.prepared(decided.installation);
  let committed = 0;
  let rolledBack = 0;
  const unknown: string[] = [];
  if (prepared.size > 0) {
    const rows = await primary<{ xid: string; outcome: string }>('select xid, outcome from commit_outcomes($1)', [
      [...prepared.values()],
    ]);
    const outcomes = new Map(rows.map(({ xid, outcome }) => [xid, outcome]));
    for (const [gid, xid] of prepared) {
      const outcome = outcomes.get(xid);
      if (outcome === 'commit') committed++;
      else if (outcome === 'rollback') rolledBack++;
      if (outcome === 'commit' || outcome === 'rollback') await second.end(gid, outcome);
      if (outcome === 'unknown') unknown.push(gid);
    }
  }
  const open = new Set(prepared.values());
  const finished = decided.xids.filter((xid) => !open.has(xid));
  if (finished.length > 0) await primary('select forget_commit_decisions($1)', [finished]);
  return { committed, rolledBack, unknown };
}

/**
 * Ends regularly what processes and servers that died left prepared in the second database. Every process does, so it happens as long as
 * one runs.
 * @returns stops it
 */
export function settleRegularly(
  primary: QueryDatabase,
  second: SecondDatabase,
  logger: Pick<Logger, 'info' | 'warn' | 'error'>,
): () => void {
  let timer: NodeJS.Timeout | undefined;
  let isStopped = false;
  /** Logged once: it may last as long as the second database cannot be reached. */
  let failure = '';
  const settle = async () => {
    try {
      const { committed, rolledBack, unknown } = await settlePrepared(primary, second);
      if (committed + rolledBack > 0)
        logger.info(
          { committed, rolledBack },
          'transactions that were left prepared in the second database have ended',
        );
      if (unknown.length > 0 && failure === '')
        logger.error(
          { prepared: unknown },
          'the second database has prepared transactions that this database never had',
        );
      failure = unknown.join();
    } catch (error) {
      const { message } = error as Error;
      if (message !== failure && !isStopped)
        logger.warn({ err: error }, 'prepared transactions of the second database cannot be ended now; trying again');
      failure = message;
    }
    if (!isStopped) timer = setTimeout(() => void settle(), pauseMs).unref();
  };
  timer = setTimeout(() => void settle(), pauseMs).unref();
  return () => {
    isStopped = true;
    clearTimeout(timer);
  };
}

import type { SecondDatabase } from './second-database.ts';

/** Runs one statement in the primary database, in a transaction of its own, with the rights of the system role or the owner. */
export type QueryPrimary = <Row extends object>(text: string, values: readonly unknown[]) => Promise<readonly Row[]>;

export interface Settled {
  readonly committed: number;
  readonly rolledBack: number;
  /** Names of prepared transactions of which this primary database knows nothing: it was restored from a backup, perhaps. */
  readonly unknown: readonly string[];
}

/**
 * Ends what is prepared in the second database and was left behind, by a process or a server that died: as the primary database
 * decided. What is still under way in the primary database is left alone. Any number of processes may do this at the same time.
 */
export async function settlePrepared(primary: QueryPrimary, second: SecondDatabase): Promise<Settled> {
  // Before the question what is prepared: what is decided and no longer prepared has been committed.
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

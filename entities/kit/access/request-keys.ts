import type { Work } from '../storage/work.ts';

/** State of a request with this key when it begins. `busy`: another one with the same key is under way. */
type EarlierRequest =
  | { readonly state: 'new' }
  | { readonly state: 'busy' }
  | { readonly state: 'answered'; readonly answer: string };

/** Reserves a key until the end of the transaction. @param key digest of everything that makes two requests the same one */
export async function reserveRequest(work: Work, key: Buffer): Promise<EarlierRequest> {
  const locks = await work.rowsAsSystem<{ is_free: boolean }>(
    `select pg_try_advisory_xact_lock(hashtextextended('idempotent:' || encode($1::bytea, 'hex'), 0)) as is_free`,
    [key],
  );
  if (!locks[0]?.is_free) return { state: 'busy' };
  // A statement of its own: it sees what was committed before the lock was free.
  const rows = await work.rowsAsSystem<{ answer: string }>(
    `select answer from idempotent_requests where key = $1 and expires_at > $2`,
    [key, work.clock.now()],
  );
  return rows[0] ? { state: 'answered', answer: rows[0].answer } : { state: 'new' };
}

/** Keeps the answer of a request whose key is reserved, in its transaction. @param answer sealed, because it contains records */
export async function keepAnswer(work: Work, key: Buffer, answer: string, lifetimeMs: number): Promise<void> {
  const now = work.clock.now();
  const count = await work.runAsSystem(
    `insert into idempotent_requests as held (key, answer, expires_at) values ($1, $2, $3)
     on conflict (key) do update set answer = excluded.answer, expires_at = excluded.expires_at where held.expires_at <= $4`,
    [key, answer, new Date(now.getTime() + lifetimeMs), now],
  );
  if (count !== 1) throw new Error('another request has answered under the same idempotency key');
}

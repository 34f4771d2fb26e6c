import type { Work } from '../storage/work.ts';

/** A counter of failed sign-ins: of an account, of a browser, or of a client address. */
export interface SignInKey {
  readonly key: string;
  /** Number of failures within the window after which further attempts are rejected. */
  readonly limit: number;
}

/**
 * Counts an attempt before it is made, so that concurrent attempts cannot exceed the limit. The transaction of a rejected attempt
 * must be rolled back.
 * @returns undefined when the attempt is allowed, otherwise the time from which the next one is
 */
export async function takeAttempt(work: Work, keys: readonly SignInKey[], windowMs: number): Promise<Date | undefined> {
  const session = await work.readAs('system');
  const at = work.clock.now();
  // The conflicting row is locked until the end of the transaction. A counter at its limit keeps its time of the last failure.
  const { rows } = await session.query<{ key: string; failures: number; last_failed_at: Date }>(
    `insert into sign_in_failures as held (key, failures, first_failed_at, last_failed_at)
     select key, 1, $3, $3 from unnest($1::text[]) as key order by key
     on conflict (key) do update set
       failures = case when held.last_failed_at > $4 then held.failures + 1 else 1 end,
       first_failed_at = case when held.last_failed_at > $4 then held.first_failed_at else $3 end,
       last_failed_at = case
         when held.last_failed_at > $4 and held.failures >= ($2::int[])[array_position($1::text[], held.key)]
         then held.last_failed_at else $3 end
     returning key, failures, last_failed_at`,
    [keys.map(({ key }) => key), keys.map(({ limit }) => limit), at, new Date(at.getTime() - windowMs)],
  );
  const full = rows.filter((row) => row.failures > (keys.find(({ key }) => key === row.key)?.limit ?? 0));
  if (full.length === 0) return undefined;
  return new Date(Math.max(...full.map((row) => row.last_failed_at.getTime())) + windowMs);
}

/**
 * After a success: deletes one counter, and takes the attempt off another.
 * @param cleared of the account, or of the browser
 * @param reduced of the client address, if the attempt was counted there
 */
export async function forgetAttempt(work: Work, cleared: string, reduced: string | null): Promise<void> {
  const session = await work.readAs('system');
  // The count locks the account's row first, the order of `takeAttempt`; another order could deadlock with it.
  await session.query(
    `with forgotten as (delete from sign_in_failures where key = $1 returning 1)
     update sign_in_failures set failures = greatest(failures - 1, 0)
     where key = $2 and (select count(*) from forgotten) >= 0`,
    [cleared, reduced],
  );
}

/** Takes an attempt off its counters because nobody has judged it. */
export async function giveBackAttempt(work: Work, keys: readonly SignInKey[]): Promise<void> {
  const session = await work.readAs('system');
  await session.query(
    `with locked as (select key from sign_in_failures where key = any($1) order by key for update)
     update sign_in_failures held set failures = greatest(held.failures - 1, 0) from locked where held.key = locked.key`,
    [keys.map(({ key }) => key)],
  );
}

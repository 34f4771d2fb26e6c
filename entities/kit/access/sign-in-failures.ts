import type { Work } from '../storage/work.ts';

/** Something whose failed sign-ins are counted: an account, or an address they come from. */
export interface SignInKey {
  readonly key: string;
  /** Failures within the window after which it has to wait. */
  readonly limit: number;
}

/**
 * Counts an attempt before it is made, so that however many run at the same time, no more than the limit are ever
 * evaluated. Roll the transaction back when it is refused.
 * @returns when the attempt may be made: undefined for now
 */
export async function takeAttempt(work: Work, keys: readonly SignInKey[], windowMs: number): Promise<Date | undefined> {
  const session = await work.readAs('system');
  const at = work.clock.now();
  // The conflicting row is locked until the end of the transaction; the time of a full one stands still.
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

/** After a success: the account starts anew, and the address gets its attempt back. */
export async function forgetAttempt(work: Work, account: string, address: string): Promise<void> {
  const session = await work.readAs('system');
  // The count makes the account's row go first, as in `takeAttempt`: otherwise the two could wait for each other.
  await session.query(
    `with forgotten as (delete from sign_in_failures where key = $1 returning 1)
     update sign_in_failures set failures = greatest(failures - 1, 0)
     where key = $2 and (select count(*) from forgotten) >= 0`,
    [account, address],
  );
}

import type { Work } from '../kit/storage/work.ts';

/** The clock of the database, because all processes share it. */
const now = 'clock_timestamp()';

/**
 * Takes the next time at which a request to an account at another system may be sent.
 * @param account such as `chat/T024BE7LD`
 * @param spacingMs time that the request takes from the rate of the account
 * @param maxWaitMs longest wait; where it is longer, nothing is taken
 * @returns milliseconds until that time, and whether it was taken
 */
export async function takeAccountSlot(
  work: Work,
  account: string,
  { spacingMs, maxWaitMs }: { readonly spacingMs: number; readonly maxWaitMs: number },
): Promise<{ readonly waitMs: number; readonly isTaken: boolean }> {
  const [taken] = await work.rowsAsSystem<{ waitMs: number }>(
    `insert into integration_account_rates as rate (account, free_at) values ($1, ${now} + $2 * interval '1 millisecond')
     on conflict (account) do update set free_at = greatest(rate.free_at, ${now}) + $2 * interval '1 millisecond'
       where rate.free_at <= ${now} + $3 * interval '1 millisecond'
     returning (extract(epoch from free_at - ${now}) * 1000 - $2)::float8 as "waitMs"`,
    [account, spacingMs, maxWaitMs],
  );
  if (taken) return { waitMs: Math.max(0, taken.waitMs), isTaken: true };
  const [row] = await work.rowsAsSystem<{ waitMs: number }>(
    `select (extract(epoch from free_at - ${now}) * 1000)::float8 as "waitMs" from integration_account_rates where account = $1`,
    [account],
  );
  return { waitMs: Math.max(0, row?.waitMs ?? 0), isTaken: false };
}

/** Lets nobody send requests to the account for some time, because the other system has asked for it. */
export async function pauseAccount(work: Work, account: string, pauseMs: number): Promise<void> {
  await work.runAsSystem(
    `insert into integration_account_rates as rate (account, free_at) values ($1, ${now} + $2 * interval '1 millisecond')
     on conflict (account) do update set free_at = greatest(rate.free_at, excluded.free_at)`,
    [account, pauseMs],
  );
}

const pruned = 1_000;

/** Forgets some of the accounts that have been free for an hour: for those, nothing has to be waited for. @returns whether there may be more */
export async function pruneAccountRates(work: Work): Promise<boolean> {
  const count = await work.runAsSystem(
    `delete from integration_account_rates where account in (
       select account from integration_account_rates where free_at < ${now} - interval '1 hour' limit ${pruned} for update skip locked)`,
  );
  return count === pruned;
}

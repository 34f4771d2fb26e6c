import type { Clock } from '../base/clock.ts';
import { changeOutsideTransaction } from '../storage/one-round-trip.ts';
import type { Statement } from '../storage/sql.ts';
import type { StatementSource } from '../storage/transaction.ts';
import type { Work } from '../storage/work.ts';

/** A counter of failed sign-ins: of an account, of a browser, or of a client address. */
export interface SignInKey {
  readonly key: string;
  /** Number of failures within the window after which further attempts are rejected. */
  readonly limit: number;
}

/**
 * Counts an attempt before it is made, so that concurrent attempts cannot exceed the limit. A rejected attempt is not counted.
 * @param count number of attempts that it stands for
 * @returns undefined when the attempt is allowed, otherwise the time from which the next one is
 */
export async function takeAttempt(
  work: Work,
  keys: readonly SignInKey[],
  windowMs: number,
  count = 1,
): Promise<Date | undefined> {
  const rows = await work.rowsAsSystem<AttemptRow>(taken, attemptValues(keys, windowMs, work.clock.now(), count));
  return nextAttempt(rows[0], windowMs);
}

/**
 * The same in a transaction of its own, in one round trip. It does not wait until the count is on disk: a server that loses its memory may
 * forget the attempts of its last second. Where a hook takes part in commits, it waits.
 * @param settings its deadline is in milliseconds since the epoch
 */
export async function takeAttemptApart(
  database: StatementSource & { readonly options: { readonly clock: Clock } },
  keys: readonly SignInKey[],
  windowMs: number,
  { deadline, traceparent }: { readonly deadline: number; readonly traceparent: string },
): Promise<Date | undefined> {
  const { rows } = await changeOutsideTransaction<AttemptRow>(
    database,
    { role: 'system', organizationId: null, userId: null, deadline, traceparent: () => traceparent },
    { text: takenSoonDurable, values: attemptValues(keys, windowMs, database.options.clock.now()) },
  );
  return nextAttempt(rows[0], windowMs);
}

interface AttemptRow {
  /** When the attempt before failed, if there were too many. */
  readonly failed_at: Date | null;
}

const taken = 'select take_attempt($1, $2, $3, $4, $5) as failed_at';
const takenSoonDurable = `${taken} from set_config('synchronous_commit', 'off', true)`;

function attemptValues(keys: readonly SignInKey[], windowMs: number, at: Date, count = 1): Statement['values'] {
  return [keys.map(({ key }) => key), keys.map(({ limit }) => limit), at, new Date(at.getTime() - windowMs), count];
}

function nextAttempt(row: AttemptRow | undefined, windowMs: number): Date | undefined {
  return row?.failed_at ? new Date(row.failed_at.getTime() + windowMs) : undefined;
}

/**
 * After a success: deletes one counter, and takes the attempt off another.
 * @param cleared of the account, or of the browser
 * @param reduced of the client address, if the attempt was counted there
 */
export async function forgetAttempt(work: Work, cleared: string, reduced: string | null): Promise<void> {
  if (reduced === null) {
    await work.runAsSystem('delete from sign_in_failures where key = $1', [cleared]);
    return;
  }
  // The count locks the account's row first, the order of `takeAttempt`; another order could deadlock with it.
  await work.runAsSystem(
    `with forgotten as (delete from sign_in_failures where key = $1 returning 1)
     update sign_in_failures set failures = greatest(failures - 1, 0)
     where key = $2 and (select count(*) from forgotten) >= 0`,
    [cleared, reduced],
  );
}

/** Takes an attempt off its counters because nobody has judged it. */
export async function giveBackAttempt(work: Work, keys: readonly SignInKey[]): Promise<void> {
  await work.runAsSystem(
    `with locked as (select key from sign_in_failures where key = any($1) order by key for update)
     update sign_in_failures held set failures = greatest(held.failures - 1, 0) from locked where held.key = locked.key`,
    [keys.map(({ key }) => key)],
  );
}

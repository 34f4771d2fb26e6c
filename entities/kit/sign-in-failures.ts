import type { UnitOfWork } from './unit-of-work.ts';

export interface SignInFailures {
  readonly failures: number;
  /** When the newest one happened. */
  readonly lastFailedAt: Date;
}

/** Failures of a key (an account or an address) since it last succeeded, if within the window. */
export async function readSignInFailures(
  unit: UnitOfWork,
  keys: readonly string[],
  windowMs: number,
): Promise<Map<string, SignInFailures>> {
  const session = await unit.readAs('system');
  const since = new Date(unit.database.options.clock.now().getTime() - windowMs);
  const { rows } = await session.query<{ key: string; failures: number; last_failed_at: Date }>(
    'select key, failures, last_failed_at from sign_in_failures where key = any($1) and last_failed_at > $2',
    [keys, since],
  );
  return new Map(rows.map((row) => [row.key, { failures: row.failures, lastFailedAt: row.last_failed_at }]));
}

/** Counts one failure per key; exact under races, because the row is changed where it lies. */
export async function countSignInFailure(unit: UnitOfWork, keys: readonly string[], windowMs: number): Promise<void> {
  const session = await unit.readAs('system');
  const at = unit.database.options.clock.now();
  const since = new Date(at.getTime() - windowMs);
  await session.query(
    `insert into sign_in_failures as held (key, failures, first_failed_at, last_failed_at)
     select key, 1, $2, $2 from unnest($1::text[]) as key order by key
     on conflict (key) do update set
       failures = case when held.last_failed_at > $3 then held.failures + 1 else 1 end,
       first_failed_at = case when held.last_failed_at > $3 then held.first_failed_at else $2 end,
       last_failed_at = $2`,
    [keys, at, since],
  );
}

export async function forgetSignInFailures(unit: UnitOfWork, key: string): Promise<void> {
  const session = await unit.readAs('system');
  await session.query('delete from sign_in_failures where key = $1', [key]);
}

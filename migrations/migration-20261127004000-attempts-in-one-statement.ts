import { Migration } from '@mikro-orm/migrations';

/**
 * Counts an attempt at all of its counters, or at none when one of them is full: it returns the time of the last failure there. An attempt
 * that is refused needs no transaction of its caller that is rolled back.
 */
const takeAttempt = [
  `create function take_attempt(wanted text[], limits int[], attempted_at timestamptz, since timestamptz) returns timestamptz
    language plpgsql security definer set search_path = public, pg_temp as $$
  declare full_since timestamptz;
  begin
    begin
      -- The conflicting row is locked until the end of the transaction. A counter at its limit keeps its time of the last failure.
      with counted as (
        insert into sign_in_failures as held (key, failures, first_failed_at, last_failed_at)
        select key, 1, attempted_at, attempted_at from unnest(wanted) as key order by key
        on conflict (key) do update set
          failures = case when held.last_failed_at > since then held.failures + 1 else 1 end,
          first_failed_at = case when held.last_failed_at > since then held.first_failed_at else attempted_at end,
          last_failed_at = case
            when held.last_failed_at > since and held.failures >= limits[array_position(wanted, held.key)]
            then held.last_failed_at else attempted_at end
        returning key, failures, last_failed_at)
      select max(last_failed_at) into full_since from counted where failures > limits[array_position(wanted, key)];
      if full_since is not null then raise exception using errcode = 'CR429'; end if;
    exception when sqlstate 'CR429' then null;
    end;
    return full_since;
  end $$`,
  'revoke all on function take_attempt(text[], int[], timestamptz, timestamptz) from public',
  'grant execute on function take_attempt(text[], int[], timestamptz, timestamptz) to core_app, core_system',
];

export class Migration20261127004000AttemptsInOneStatement extends Migration {
  override up(): void {
    for (const statement of takeAttempt) this.addSql(statement);
  }

  override down(): void {
    this.addSql('drop function take_attempt(text[], int[], timestamptz, timestamptz)');
  }
}

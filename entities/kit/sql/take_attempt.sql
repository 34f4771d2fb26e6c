-- Counts an attempt at all of its counters, or at none when one is full, for takeAttempt and takeAttemptApart.
-- Besides failed sign-ins it limits mails, guesses and questions, and makes challenges valid once (limit 1).
-- wanted: keys of the counters, each once (a duplicate raises 21000). limits: attempts allowed, at the same positions.
-- attempted_at: present time of the process. since: beginning of the window, attempted_at minus its length.
-- uses: by how much each counter grows, 1 for most.
-- Returns null when the attempt is allowed. Otherwise the latest time of a counted attempt at the full counters: the
-- next attempt is allowed when a window has passed since then. A refused attempt is not counted and prolongs nothing.
-- A counter starts anew when its last attempt lies outside the window. All are incremented, sorted by key against
-- deadlocks, and judged afterwards. If one exceeds its limit, CR429 ends the inner block, which undoes all counts; it
-- is caught here and never reaches the caller, whose transaction continues.
-- Counted rows stay locked until the end of the transaction, so concurrent attempts cannot exceed a limit. Callers
-- count before the attempt is judged; forgetAttempt and giveBackAttempt undo it, and must lock in the order of the keys
-- as well.
-- maintain_partitions deletes counters a day after their last attempt, so windows may be a day long at most.
create or replace function take_attempt(wanted text[], limits integer[], attempted_at timestamptz, since timestamptz, uses integer)
returns timestamptz
language plpgsql
security definer
set search_path to 'public', 'pg_temp'
as $$
declare full_since timestamptz;
begin
  begin
    -- The conflicting row is locked until the end of the transaction. A counter at its limit keeps its time of the last failure.
    with counted as (
      insert into sign_in_failures as held (key, failures, first_failed_at, last_failed_at)
      select key, uses, attempted_at, attempted_at from unnest(wanted) as key order by key
      on conflict (key) do update set
        failures = case when held.last_failed_at > since then held.failures + uses else uses end,
        first_failed_at = case when held.last_failed_at > since then held.first_failed_at else attempted_at end,
        last_failed_at = case
          when held.last_failed_at > since and held.failures + uses > limits[array_position(wanted, held.key)]
          then held.last_failed_at else attempted_at end
      returning key, failures, last_failed_at)
    select max(last_failed_at) into full_since from counted where failures > limits[array_position(wanted, key)];
    if full_since is not null then raise exception using errcode = 'CR429'; end if;
  exception when sqlstate 'CR429' then null;
  end;
  return full_since;
end
$$;
revoke all on function take_attempt(text[],integer[],timestamptz,timestamptz,integer) from public;
grant execute on function take_attempt(text[],integer[],timestamptz,timestamptz,integer) to core_app, core_system;

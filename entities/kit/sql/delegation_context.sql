-- Returns the current state of a caller who acts as somebody else, for principal-state.ts with each of its requests.
-- beginDelegation writes the record and reads its state with this function, too.
-- wanted_id: id of the delegation. Always one row: when it is unknown, deleted or ended, is_signed_in and is_active are
-- false and the rest is empty.
-- Support: is_active while the consent under which it began and the organization exist. role null, no groups or
-- relations (callers give support its role); modules, billing: entitlements_of; gates: gates_of; expires_at is the earlier of both ends.
-- Impersonation: is_signed_in is that of the actor's session from which it began. is_active requires that both people
-- are active, both memberships under which it began exist, the actor lacks no required second factor, and the actor's
-- role is above that of the subject, who has one (member and auditor are equal, as in rankOf). role, groups, relations,
-- modules, billing and gates are the subject's, whose single sign-on is not judged (session `*`); the actor's is.
-- It compares no time with a clock: callers check expires_at. Must stay stable, and plpgsql, whose plans are kept. It
-- may read only columns that note_caller_change triggers watch, each table with an alias
-- (test/entities/caller-changes.test.ts).
-- Security definer: row-level security would hide rows that decide the state.
create or replace function delegation_context(wanted_id text)
returns table(is_signed_in boolean, is_active boolean, role text, group_ids text[], relations text[], modules text[], billing text[], gates text[], type text, actor_id text, actor_name text, subject_id text, organization_id text, expires_at timestamptz)
language plpgsql
stable security definer
set search_path to 'public', 'pg_temp'
as $$
#variable_conflict use_column
declare
  held delegations%rowtype; consent_end timestamptz; lowest int;
  -- As rankOf (entities/kit/model/caller.ts): member and auditor are equal. test/api/identity/acting-as-somebody-else.test.ts compares all pairs.
  ladder text[] := role_order();
begin
  lowest := array_position(ladder, 'member');
  select * into held from delegations d where d.id = wanted_id and d.ended_at is null and d.deleted_at is null;
  if held.id is null then
    return query select false, false, null::text, '{}'::text[], '{}'::text[], '{}'::text[], '{}'::text[], '{}'::text[],
      null::text, null::text, null::text, null::text, null::text, null::timestamptz;
  elsif held.type = 'support' then
    select c.expires_at into consent_end from support_consents c
      where c.id = held.consent_id and c.organization_id = held.organization_id and c.deleted_at is null;
    return query select true,
      consent_end is not null and exists (select 1 from organizations o where o.id = held.organization_id and o.deleted_at is null),
      null::text, '{}'::text[], '{}'::text[], e.modules, e.billing, gates_of(held.organization_id),
      held.type, held.actor_id, held.actor_name, held.subject_id, held.organization_id, least(held.expires_at, consent_end)
      from entitlements_of(array(select c.id from organization_chain(held.organization_id) c)) e;
  else
    return query select a.is_signed_in,
      coalesce(a.is_active and s.is_active
        and exists (select 1 from memberships m where m.id = held.actor_membership_id and m.deleted_at is null)
        and exists (select 1 from memberships m where m.id = held.subject_membership_id and m.deleted_at is null) and not lacks_second_factor(held.actor_id, held.organization_id)
        and array_position(ladder, a.role) < least(array_position(ladder, s.role), lowest) and s.role is not null, false),
      s.role, s.group_ids, s.relations, s.modules, s.billing, s.gates,
      held.type, held.actor_id, held.actor_name, held.subject_id, held.organization_id, held.expires_at
      from request_context(held.actor_id, held.session_id, held.organization_id) a,
        request_context(held.subject_id, '*', held.organization_id) s;
  end if;
end
$$;
revoke all on function delegation_context(text) from public;
grant execute on function delegation_context(text) to core_app, core_system;

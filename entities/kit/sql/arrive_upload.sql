-- Marks an upload whose bytes have all arrived as due for its check, for UploadRows.arrive.
-- doc: {id, actor, organization_id, at}. State `receiving` becomes `arrived`, due at once (claimDueChecks takes it);
-- other states stay, so a repeat does nothing. The writer is cleared in each case.
-- Returns the state afterwards; null for an upload of another actor or organization, and one that is used or has
-- expired.
-- Security definer: core_app has no rights to uploads. The actor and organization in doc are the only check of
-- ownership.
create or replace function arrive_upload(doc jsonb)
returns text
language plpgsql
security definer
set search_path to 'public', 'pg_temp'
as $$
declare state_after text;
begin
  update uploads u set state = case when u.state = 'receiving' then 'arrived' else u.state end,
    check_due_at = case when u.state = 'receiving' then (doc ->> 'at')::timestamptz else u.check_due_at end,
    writer = null, writer_until = null
    where u.id = doc ->> 'id' and u.actor = doc ->> 'actor' and u.organization_id is not distinct from doc ->> 'organization_id'
      and u.state <> 'used' and u.expires_at > (doc ->> 'at')::timestamptz
    returning u.state into state_after;
  return state_after;
end
$$;
revoke all on function arrive_upload(jsonb) from public;
grant execute on function arrive_upload(jsonb) to core_app, core_system;

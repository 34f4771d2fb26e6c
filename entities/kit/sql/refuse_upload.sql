-- Refuses or gives up an upload, so that its bytes are removed with the next sweep, for UploadRows.refuse.
-- doc: {id, actor, organization_id, problem: {code, message}, at}. The upload becomes `refused`, and its object
-- `removing`.
-- Returns false, and changes nothing, for an upload of another actor or organization, one that a record has taken, and
-- one that is refused already. Expiry does not matter.
-- Locks the upload, then its object, as finish_upload does. Security definer: core_app has no rights to uploads.
create or replace function refuse_upload(doc jsonb)
returns boolean
language plpgsql
security definer
set search_path to 'public', 'pg_temp'
as $$
declare held uploads%rowtype;
begin
  select * into held from uploads u where u.id = doc ->> 'id' and u.actor = doc ->> 'actor'
    and u.organization_id is not distinct from doc ->> 'organization_id' for update;
  if held.id is null or held.state in ('used', 'refused') then return false; end if;
  update uploads set state = 'refused', problem = doc -> 'problem', check_due_at = null, writer = null, writer_until = null
    where id = held.id;
  update stored_objects set state = 'removing', released_at = (doc ->> 'at')::timestamptz
    where id = held.object_id and state in ('receiving', 'ready');
  return true;
end
$$;
revoke all on function refuse_upload(jsonb) from public;
grant execute on function refuse_upload(jsonb) to core_app, core_system;

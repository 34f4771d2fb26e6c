-- Marks an upload whose bytes are durable and measured as ready for a record, for UploadRows.finish.
-- doc: {id, actor, organization_id, size_bytes, sha256 (hexadecimal), content_type, version, name (optional), at}.
-- Returns `ready`, or the unchanged state of an upload that is not receiving or arrived, or has expired; null for one
-- of another actor or organization, and one whose object is being removed. Only `ready` and `used` are successes. A
-- repeat changes nothing.
-- Locks the upload, then its object, as markRemovable does. Security definer: core_app has no rights to uploads.
create or replace function finish_upload(doc jsonb)
returns text
language plpgsql
security definer
set search_path to 'public', 'pg_temp'
as $$
declare held uploads%rowtype;
begin
  select * into held from uploads u where u.id = doc ->> 'id' and u.actor = doc ->> 'actor'
    and u.organization_id is not distinct from doc ->> 'organization_id' for update;
  if held.state in ('receiving', 'arrived') and held.expires_at > (doc ->> 'at')::timestamptz then
    update stored_objects set state = 'ready', content_type = doc ->> 'content_type', size_bytes = (doc ->> 'size_bytes')::bigint,
      sha256 = decode(doc ->> 'sha256', 'hex'), version = doc ->> 'version', name = coalesce(doc ->> 'name', name)
      where id = held.object_id and state = 'receiving';
    if not found then return null; end if;
    update uploads set state = 'ready', received = (doc ->> 'size_bytes')::bigint, check_due_at = null, writer = null, writer_until = null
      where id = held.id;
    return 'ready';
  end if;
  return held.state;
end
$$;
revoke all on function finish_upload(jsonb) from public;
grant execute on function finish_upload(jsonb) to core_app, core_system;

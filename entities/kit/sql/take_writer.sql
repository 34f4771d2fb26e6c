-- Makes a request the only writer of a resumable upload until a time, for UploadRows.takeWriter.
-- doc: {id, actor, organization_id, writer (random id of the request), until, at}. The same writer repeats it to renew
-- its time, and with until = at to leave.
-- Returns false when another one writes whose time has not ended, when the upload takes no more bytes or has expired,
-- and for an upload of another actor or organization. Security definer: core_app has no rights to uploads.
create or replace function take_writer(doc jsonb)
returns boolean
language plpgsql
security definer
set search_path to 'public', 'pg_temp'
as $$
begin
  update uploads set writer = doc ->> 'writer', writer_until = (doc ->> 'until')::timestamptz
    where id = doc ->> 'id' and actor = doc ->> 'actor' and organization_id is not distinct from doc ->> 'organization_id'
      and state = 'receiving' and expires_at > (doc ->> 'at')::timestamptz
      and (writer is null or writer = doc ->> 'writer' or writer_until <= (doc ->> 'at')::timestamptz);
  return found;
end
$$;
revoke all on function take_writer(jsonb) from public;
grant execute on function take_writer(jsonb) to core_app, core_system;

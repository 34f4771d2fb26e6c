-- Records what the writer of a resumable upload has stored, for UploadRows.saveParts.
-- doc: {id, actor, organization_id, writer, received (bytes stored, the tail included), tail_bytes, parts: [{number,
-- size, tag}] since the last call, parts_ref (null keeps it), until (null: the writer leaves)}.
-- Returns false, and changes nothing, when the upload is not `receiving` or has another writer or owner. A writer whose
-- time has ended may still save until another one takes its place; neither writer_until nor expires_at is checked.
-- Security definer: core_app has no rights to uploads.
create or replace function save_parts(doc jsonb)
returns boolean
language plpgsql
security definer
set search_path to 'public', 'pg_temp'
as $$
begin
  update uploads set received = (doc ->> 'received')::bigint, tail_bytes = (doc ->> 'tail_bytes')::int,
    parts_ref = coalesce(nullif(doc -> 'parts_ref', 'null'), parts_ref),
    writer = case when doc ->> 'until' is not null then writer end, writer_until = (doc ->> 'until')::timestamptz
    where id = doc ->> 'id' and actor = doc ->> 'actor' and organization_id is not distinct from doc ->> 'organization_id'
      and state = 'receiving' and writer = doc ->> 'writer';
  if not found then return false; end if;
  insert into upload_parts as held (upload_id, number, size, tag)
    select doc ->> 'id', p.number, p.size, p.tag from jsonb_to_recordset(doc -> 'parts') as p (number int, size bigint, tag text)
    on conflict (upload_id, number) do update set size = excluded.size, tag = excluded.tag;
  return true;
end
$$;
revoke all on function save_parts(jsonb) from public;
grant execute on function save_parts(jsonb) to core_app, core_system;

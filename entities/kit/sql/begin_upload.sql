-- Inserts the rows of a new upload and of its object before any byte is stored, for UploadRows.begin.
-- doc: {id, object_id, route, actor, organization_id, purpose, declared: {name, type, sizeBytes, sha256}, name,
-- provider, bucket, region, key, parts_ref, at, expires_at, max_unused_bytes (null: no limit)}.
-- Raises CR422 (limit_exceeded) when the actor's uploads that no record uses, this one included, exceed
-- max_unused_bytes in all organizations together. While bytes come in or are checked, the declared size is added;
-- without one, and afterwards, the size received.
-- Takes an advisory transaction lock on the actor if a size is declared, so that parallel uploads see each other. An
-- upload without one adds nothing yet and takes no lock: the files of one form are received in parallel.
-- Security definer: core_app has no rights to uploads and may not write stored_objects.
create or replace function begin_upload(doc jsonb)
returns void
language plpgsql
security definer
set search_path to 'public', 'pg_temp'
as $$
begin
  if doc -> 'declared' ->> 'sizeBytes' is not null then
    perform pg_advisory_xact_lock(hashtextextended('uploads of ' || (doc ->> 'actor'), 0));
  end if;
  if coalesce((doc -> 'declared' ->> 'sizeBytes')::bigint, 0) + (select coalesce(sum(case when u.state in ('receiving', 'arrived')
      then coalesce((u.declared ->> 'sizeBytes')::bigint, u.received) else u.received end), 0)
      from uploads u where u.actor = doc ->> 'actor' and u.state <> 'used')
      > (doc ->> 'max_unused_bytes')::bigint then
    raise exception 'You have uploaded too much that no record uses; attach it, or wait until it is removed.' using errcode = 'CR422';
  end if;
  insert into stored_objects (id, provider, bucket, region, key, state, name, created_at)
    values (doc ->> 'object_id', doc ->> 'provider', doc ->> 'bucket', doc ->> 'region', doc ->> 'key', 'receiving', doc ->> 'name',
      (doc ->> 'at')::timestamptz);
  insert into uploads (id, object_id, route, actor, organization_id, purpose, state, declared, parts_ref, created_at, expires_at)
    values (doc ->> 'id', doc ->> 'object_id', doc ->> 'route', doc ->> 'actor', doc ->> 'organization_id', doc ->> 'purpose', 'receiving',
      doc -> 'declared', nullif(doc -> 'parts_ref', 'null'), (doc ->> 'at')::timestamptz, (doc ->> 'expires_at')::timestamptz);
end
$$;
revoke all on function begin_upload(jsonb) from public;
grant execute on function begin_upload(jsonb) to core_app, core_system;

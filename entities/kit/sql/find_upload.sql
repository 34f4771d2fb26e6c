-- Returns an upload with its object and its stored parts as JSON, for UploadRows.find.
-- doc: {id, actor, organization_id, at}. Null for an upload of another actor or organization, and one that is used or
-- expired.
-- Keys: those of FoundUpload (upload-rows.ts) and more. received, tail_bytes and size_bytes are in bytes, sha256 in
-- hexadecimal digits; parts: [{number, size, tag}] by number.
-- Security definer: core_app has no rights to uploads, nor to objects that no record owns.
create or replace function find_upload(doc jsonb)
returns jsonb
language plpgsql
stable security definer
set search_path to 'public', 'pg_temp'
as $$
declare found_upload jsonb;
begin
  select jsonb_build_object('id', u.id, 'object_id', u.object_id, 'route', u.route, 'purpose', u.purpose, 'state', u.state,
      'declared', u.declared, 'problem', u.problem, 'parts_ref', u.parts_ref, 'received', u.received, 'tail_bytes', u.tail_bytes,
      'created_at', u.created_at, 'expires_at', u.expires_at, 'provider', o.provider, 'bucket', o.bucket, 'region', o.region, 'key', o.key,
      'name', o.name, 'content_type', o.content_type, 'size_bytes', o.size_bytes, 'sha256', encode(o.sha256, 'hex'),
      'parts', (select coalesce(jsonb_agg(jsonb_build_object('number', p.number, 'size', p.size, 'tag', p.tag) order by p.number), '[]')
        from upload_parts p where p.upload_id = u.id)) into found_upload
    from uploads u join stored_objects o on o.id = u.object_id
    where u.id = doc ->> 'id' and u.actor = doc ->> 'actor' and u.organization_id is not distinct from doc ->> 'organization_id'
      and u.state <> 'used' and u.expires_at > (doc ->> 'at')::timestamptz;
  return found_upload;
end
$$;
revoke all on function find_upload(jsonb) from public;
grant execute on function find_upload(jsonb) to core_app, core_system;

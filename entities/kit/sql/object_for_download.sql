-- Returns an object that a record owns, with location, copy and availability, for WantedObject, readObject, FilePart.
-- Null for an object that no record owns. Keys: ObjectDocument (stored-object.ts); sha256 in hexadecimal digits; copy
-- is null unless it is verified.
-- It checks no rights: only the rules of the owning record (owner_kind, owner_id, owner_field) decide who may have the
-- file, and the caller of this function applies them. The location is for the server alone.
-- Security definer: core_app cannot read copies, and a download reads the object together with the state of the caller.
create or replace function object_for_download(wanted text)
returns jsonb
language plpgsql
stable security definer
set search_path to 'public', 'pg_temp'
as $$
begin
  return (select jsonb_build_object('id', o.id, 'organization_id', o.organization_id, 'provider', o.provider, 'bucket', o.bucket,
      'region', o.region, 'key', o.key, 'name', o.name, 'content_type', o.content_type, 'size_bytes', o.size_bytes,
      'sha256', encode(o.sha256, 'hex'), 'version', o.version, 'owner_kind', o.owner_kind, 'owner_id', o.owner_id,
      'owner_field', o.owner_field, 'availability', file_availability(o.verdict, o.organization_id, o.owner_kind),
      'copy', (select jsonb_build_object('provider', c.provider, 'bucket', c.bucket, 'region', c.region, 'key', c.key, 'version', c.version)
        from object_copies c where c.object_id = o.id and c.state = 'verified'))
    from stored_objects o where o.id = wanted and o.state = 'owned');
end
$$;
revoke all on function object_for_download(text) from public;
grant execute on function object_for_download(text) to core_app, core_system;

-- Locks the uploads that a request attaches to records, for claimFiles (entities/kit/write/claim-files.ts).
-- doc: {ids, actor, organization_id, at}. Returns those found, in any state but `used`: the caller refuses what is not
-- `ready`. Uploads of another actor or organization, and used or expired ones, are missing from the result.
-- The organization must also be that of the transaction (core.organization_id; empty: none), whatever doc names.
-- Locks the rows FOR UPDATE by id until the end of the transaction, in which write_records marks them as used: of two
-- requests that attach the same upload, the second finds none. Security definer: core_app has no rights to uploads.
create or replace function claim_uploads(doc jsonb)
returns table(upload_id text, state text, object_id text, name text, content_type text, size_bytes bigint, problem jsonb)
language plpgsql
security definer
set search_path to 'public', 'pg_temp'
as $$
#variable_conflict use_column
begin
  return query with locked as (
    select u.* from uploads u
    where u.id in (select jsonb_array_elements_text(doc -> 'ids')) and u.actor = doc ->> 'actor'
      and u.organization_id is not distinct from doc ->> 'organization_id'
      and u.organization_id is not distinct from nullif(current_setting('core.organization_id', true), '')
      and u.state <> 'used' and u.expires_at > (doc ->> 'at')::timestamptz
    order by u.id for update
  ) select l.id, l.state, l.object_id, o.name, o.content_type, o.size_bytes, l.problem
    from locked l join stored_objects o on o.id = l.object_id;
end
$$;
revoke all on function claim_uploads(jsonb) from public;
grant execute on function claim_uploads(jsonb) to core_app, core_system;

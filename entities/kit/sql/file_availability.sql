-- Decides whether a file can be downloaded, for object_for_download and the selections of files (file-selection.ts).
-- verdict: the one in force, `clean`, `infected` or null. Returns `infected`; `awaiting_verdict` (none yet, and the
-- organization sets files_need_verdict); or `available`. These are the keys of `availabilities` (stored-file.ts).
-- Files of exports and imports wait for no verdict: scanners do not see them. A file of no organization has no setting.
-- plpgsql because lists call it for each file: PostgreSQL plans SQL functions that it cannot inline, as those with
-- security definer, anew for each statement. Security definer: row-level security would hide the setting.
create or replace function file_availability(verdict text, organization text, owner_kind text)
returns text
language plpgsql
stable security definer
set search_path to 'public', 'pg_temp'
as $$
begin
  if verdict = 'infected' then return 'infected'; end if;
  if verdict is null and coalesce(owner_kind, '') not in ('export', 'import') and exists (select 1 from organization_settings s
    where s.organization_id = organization and s.files_need_verdict and s.deleted_at is null) then return 'awaiting_verdict'; end if;
  return 'available';
end
$$;
revoke all on function file_availability(text,text,text) from public;
grant execute on function file_availability(text,text,text) to core_app, core_system;

-- Uses a link that is valid once, and returns whether this was its first use, for Database.useLink.
-- used: nonce of the link. until: when the link expires; a sweep deletes the row after that (object-removal.ts), so the
-- caller must have checked the expiry. Of concurrent uses the primary key lets one succeed.
-- Security definer: core_app has no rights to used_links.
create or replace function use_link(used bytea, until timestamptz)
returns boolean
language plpgsql
security definer
set search_path to 'public', 'pg_temp'
as $$
begin
  insert into used_links (nonce, expires_at) values (used, until) on conflict do nothing;
  return found;
end
$$;
revoke all on function use_link(bytea,timestamptz) from public;
grant execute on function use_link(bytea,timestamptz) to core_app, core_system;

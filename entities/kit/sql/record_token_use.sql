-- Records when an API token or a personal token was last used, at most once a minute, for recordTokenUse.
-- wanted_sort: `api` or `personal`. used_at: time of the process. It is no change of the record: no version, history or
-- event; and last_used_at is no column that note_caller_change triggers watch.
-- Security definer: it runs apart from the request, without an organization, so row-level security would hide the
-- token.
create or replace function record_token_use(wanted_sort text, wanted_id text, used_at timestamptz)
returns void
language plpgsql
security definer
set search_path to 'public', 'pg_temp'
as $$
begin
  update api_tokens set last_used_at = used_at where wanted_sort = 'api' and id = wanted_id
    and deleted_at is null and (last_used_at is null or last_used_at <= used_at - interval '1 minute');
  update personal_access_tokens set last_used_at = used_at where wanted_sort = 'personal' and id = wanted_id
    and deleted_at is null and (last_used_at is null or last_used_at <= used_at - interval '1 minute');
end
$$;
revoke all on function record_token_use(text,text,timestamptz) from public;
grant execute on function record_token_use(text,text,timestamptz) to core_app, core_system;

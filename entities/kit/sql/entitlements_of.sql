-- Returns the product modules of an organization and facts of its billing, for request_context, token_context,
-- delegation_context and organization_entry. Which of them apply depends on the configuration (access/entitled.ts).
-- chain_ids: the organization and its ancestors. Always one row, sorted: a state is compared as text.
-- modules: `<module>:<source>`; for a grant that ends `<module>:granted:<time>`, in milliseconds. Times are not judged.
-- billing: of the top organization, which alone has a billing, and pays for those below. `lapsed`; `no_payment_method`,
-- and with it `founder:<domain>` of the confirmed address of its founder. Empty for a personal organization.
-- Stable, plpgsql, security definer, watched columns and aliases: as request_context.
create or replace function entitlements_of(chain_ids text[])
returns table(modules text[], billing text[])
language plpgsql
stable security definer
set search_path to 'public', 'pg_temp'
as $$
begin
  modules := array(select distinct m.module || ':' || m.source || case when m.source = 'granted' and m.ends_at is not null
      then ':' || floor(extract(epoch from m.ends_at) * 1000)::bigint else '' end
    from organization_modules m where m.organization_id = any(chain_ids) and m.deleted_at is null order by 1);
  select array_remove(array[
      case when b.is_lapsed then 'lapsed' end,
      case when not b.has_payment_method then 'no_payment_method' end,
      case when not b.has_payment_method then (select 'founder:' || lower(split_part(u.email, '@', 2))
        from organizations o join users u on u.id = o.founder_id
        where o.id = b.organization_id and u.email_confirmed_at is not null and u.deleted_at is null) end
    ], null) into billing from organization_billings b where b.organization_id = any(chain_ids) and b.deleted_at is null;
  billing := coalesce(billing, '{}');
  return next;
end
$$;
revoke all on function entitlements_of(text[]) from public;
grant execute on function entitlements_of(text[]) to core_app, core_system;

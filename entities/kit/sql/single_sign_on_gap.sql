-- Decides whether single sign-on lets a session or personal token act in an organization, for request_context.
-- begun_with: the organization whose single sign-on began the session or authorized the token; '' for none.
-- Null: it may act. '': begun_with is neither the organization nor an ancestor; the session is valid only there and
-- below. Otherwise the id of the organization whose single sign-on is required: of all enforced providers the uppermost
-- decides, so that no organization below it evades it with its own. One of that organization or above it satisfies it;
-- in other sessions it is waived for owners there or above, not for owners of organizations below it.
-- Relies on the order of organization_chain. Granted to no role; organization_entry and token_context call it, too.
create or replace function single_sign_on_gap(wanted_user text, wanted_organization text, begun_with text)
returns text
language plpgsql
stable security definer
set search_path to 'public', 'pg_temp'
as $$
declare chain_ids text[]; required text;
begin
  chain_ids := array(select c.id from organization_chain(wanted_organization) c);
  if begun_with <> '' and begun_with <> all(chain_ids) then return ''; end if;
  required := (select p.organization_id from identity_providers p
    where p.organization_id = any(chain_ids) and p.is_enforced and p.deleted_at is null
    order by array_position(chain_ids, p.organization_id) desc limit 1);
  if required is null then return null; end if;
  if begun_with <> '' then
    return case when array_position(chain_ids, begun_with) >= array_position(chain_ids, required) then null else required end;
  end if;
  if exists (select 1 from memberships m where m.user_id = wanted_user and m.role = 'owner' and m.deleted_at is null
      and m.organization_id = any(chain_ids[array_position(chain_ids, required):])) then return null; end if;
  return required;
end
$$;
revoke all on function single_sign_on_gap(text,text,text) from public;

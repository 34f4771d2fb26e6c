import { Migration } from '@mikro-orm/migrations';
import { changedFunction, undone, type Changes } from './changed-function.ts';

/** By function. */
const changed: Readonly<Record<string, Changes>> = {
  // It reads what `request_context` reads for this, and neither the session nor the rights of the person.
  'organization_entry(text, text, text)': [
    [
      `begin
    return query select c.role, case when c.role is not null then single_sign_on_gap(wanted_user, wanted_organization, begun_with) end, c.modules, c.lacks_second_factor from request_context(wanted_user, '*', wanted_organization) c;`,
      `declare chain_ids text[];
  begin
    chain_ids := array(select c.id from organization_chain(wanted_organization) c);
    select m.role into role from memberships m
      where m.user_id = wanted_user and m.deleted_at is null and m.organization_id = any(chain_ids)
      order by array_position(array['owner', 'super_admin', 'admin', 'member', 'auditor'], m.role) limit 1;
    modules := '{}';
    lacks_second_factor := false;
    if role is not null then
      if begun_with <> '' or exists (select 1 from identity_providers p
          where p.organization_id = any(chain_ids) and p.is_enforced and p.deleted_at is null) then
        gap := single_sign_on_gap(wanted_user, wanted_organization, begun_with);
      end if;
      modules := array(select distinct o.module from organization_modules o
        where o.organization_id = any(chain_ids) and o.deleted_at is null order by o.module);
      lacks_second_factor := exists (select 1 from organization_settings o
          where o.organization_id = any(chain_ids) and o.requires_second_factor and o.deleted_at is null)
        and lacks_second_factor(wanted_user, wanted_organization);
    end if;
    return next;`,
    ],
  ],
  // Most ids are in the column `id`, and most rows concern one: neither the whole row as a document nor a set of ids is made for them.
  'note_caller_change()': [
    [
      `before := to_jsonb(old) ->> tg_argv[0];
    after := to_jsonb(new) ->> tg_argv[0];
    insert into caller_changes (scope)
      select case when noted < 100 then hashtextextended(id, 0) else hashtextextended('*', 0) end
      from (select before union select after) as concerned (id) where id is not null;`,
      `if tg_argv[0] = 'id' then
      before := old.id;
      after := new.id;
    else
      before := to_jsonb(old) ->> tg_argv[0];
      after := to_jsonb(new) ->> tg_argv[0];
    end if;
    if noted = 100 then
      insert into caller_changes (scope) values (hashtextextended('*', 0));
    elsif coalesce(after, before) is not null then
      insert into caller_changes (scope) values (hashtextextended(coalesce(after, before), 0));
      if before <> after then insert into caller_changes (scope) values (hashtextextended(before, 0)); end if;
    end if;`,
    ],
  ],
};

export class Migration20261127050000LightSignIns extends Migration {
  override up(): void {
    for (const [signature, changes] of Object.entries(changed)) this.addSql(changedFunction(signature, changes));
  }

  override down(): void {
    for (const [signature, changes] of Object.entries(changed))
      this.addSql(changedFunction(signature, undone(changes)));
  }
}

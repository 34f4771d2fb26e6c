-- Returns the roles from the most to the least powerful, for the functions that choose the strongest of several
-- memberships or compare two roles. Its list is that of `roles` (entities/kit/model/caller.ts), which
-- test/entities/caller-changes.test.ts compares.
-- One SQL expression without `set`, so that PostgreSQL inlines it.
create or replace function role_order()
returns text[]
language sql
immutable parallel safe
as $$
select array['owner', 'super_admin', 'admin', 'member', 'auditor']
$$;

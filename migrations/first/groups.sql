create table groups (
  id text not null,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  created_by text not null,
  updated_by text not null,
  record_version integer not null,
  deleted_at timestamptz,
  deleted_by text,
  organization_id text not null,
  display_id text not null,
  name text not null,
  display_name text,
  description text,
  managed_as text,
  manager_id text,
  name_form text not null,
  constraint groups_managed_as_check check ((managed_as = any (array['admins', 'viewers', 'all_members'])))
);
alter table groups add constraint groups_pkey primary key (id);
comment on table groups is 'Group of users who receive permissions together.';
comment on column groups.display_id is 'Human-readable identifier; unique within the organization and immutable.';
comment on column groups.name is 'Name; unique within the organization.';
comment on column groups.display_name is 'Display name; falls back to the name when empty.';
comment on column groups.description is 'Purpose of the group.';
comment on column groups.managed_as is 'Members of a managed group: everybody with a role that manages the organization (admins), everybody with another role (viewers), or everybody (all_members). The server keeps the members in line with the roles; nobody can change or delete the group. Null for other groups.';
comment on column groups.manager_id is 'Person who manages the group without being in it: the person who created it with a role of a parent organization. Null for other groups.';
comment on column groups.name_form is 'Form in which `name` is compared with that of others.';
create index groups_display_id_beginning on groups (organization_id, "left"(matched_form(display_id), 100) collate "C") where (deleted_at is null);
create index groups_manager_id_index on groups (manager_id) where (manager_id is not null);
create index groups_name_beginning on groups (organization_id, "left"(matched_form(name), 100) collate "C") where (deleted_at is null);
create index groups_organization_id_created_at_id_index on groups (organization_id, created_at, id) where (deleted_at is null);
create unique index groups_organization_id_display_id_key on groups (organization_id, display_id) where (deleted_at is null);
create index groups_organization_id_id_index on groups (organization_id, id) where (deleted_at is null);
create unique index groups_organization_id_managed_as_key on groups (organization_id, managed_as) where (deleted_at is null);
create unique index groups_organization_id_name_form_key on groups (organization_id, name_form) where (deleted_at is null);
create index groups_organization_id_name_order on groups (organization_id, name collate record_order, id) where (deleted_at is null);
create index groups_organization_id_updated_at_id_index on groups (organization_id, updated_at, id) where (deleted_at is null);
create index groups_search_index on groups using gin (organization_id, matched_form(((coalesce(name, '') || ' ') || coalesce(display_name, ''))) gin_trgm_ops, search_words(matched_form(((coalesce(name, '') || ' ') || coalesce(display_name, ''))))) where (deleted_at is null);
alter table groups enable row level security;
create policy groups_app on groups to core_app using ((organization_id = current_setting('core.organization_id', true))) with check ((organization_id = current_setting('core.organization_id', true)));
create policy groups_system on groups to core_system using (((coalesce(current_setting('core.organization_id', true), '') = '') or (organization_id = current_setting('core.organization_id', true)))) with check (((coalesce(current_setting('core.organization_id', true), '') = '') or (organization_id = current_setting('core.organization_id', true))));
grant select,insert,update on table groups to core_app;
grant select,insert,update on table groups to core_system;

create table group_join_requests (
  id text not null,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  created_by text not null,
  updated_by text not null,
  record_version integer not null,
  deleted_at timestamptz,
  deleted_by text,
  organization_id text not null,
  group_id text not null,
  user_id text not null,
  message text,
  status text not null,
  decider_id text,
  open_for text,
  constraint group_join_requests_status_check check ((status = any (array['pending', 'accepted', 'declined', 'withdrawn'])))
);
alter table group_join_requests add constraint group_join_requests_pkey primary key (id);
comment on table group_join_requests is 'Request of a person to join a group. Managers of the group accept or decline it, and the person can withdraw it.';
comment on column group_join_requests.group_id is 'Group that the person wants to join.';
comment on column group_join_requests.user_id is 'Person who wants to join.';
comment on column group_join_requests.message is 'Why the person wants to join.';
comment on column group_join_requests.status is 'Status of the request.';
comment on column group_join_requests.decider_id is 'Person who accepted or declined it.';
comment on column group_join_requests.open_for is '`userId` while the request is pending; null afterwards: the person can ask again.';
create index group_join_requests_decider_id_index on group_join_requests (decider_id) where (decider_id is not null);
create index group_join_requests_group_id_index on group_join_requests (group_id);
create unique index group_join_requests_group_id_open_for_key on group_join_requests (group_id, open_for) where (deleted_at is null);
create index group_join_requests_organization_id_created_at_id_index on group_join_requests (organization_id, created_at, id) where (deleted_at is null);
create index group_join_requests_organization_id_group_id_id_index on group_join_requests (organization_id, group_id, id) where (deleted_at is null);
create index group_join_requests_organization_id_id_index on group_join_requests (organization_id, id) where (deleted_at is null);
create index group_join_requests_organization_id_status_id_index on group_join_requests (organization_id, status, id) where (deleted_at is null);
create index group_join_requests_organization_id_updated_at_id_index on group_join_requests (organization_id, updated_at, id) where (deleted_at is null);
create index group_join_requests_organization_id_user_id_id_index on group_join_requests (organization_id, user_id, id) where (deleted_at is null);
create index group_join_requests_user_id_index on group_join_requests (user_id);
alter table group_join_requests enable row level security;
create policy group_join_requests_app on group_join_requests to core_app using ((organization_id = current_setting('core.organization_id', true))) with check ((organization_id = current_setting('core.organization_id', true)));
create policy group_join_requests_system on group_join_requests to core_system using (((coalesce(current_setting('core.organization_id', true), '') = '') or (organization_id = current_setting('core.organization_id', true)))) with check (((coalesce(current_setting('core.organization_id', true), '') = '') or (organization_id = current_setting('core.organization_id', true))));
grant select,insert,update on table group_join_requests to core_app;
grant select,insert,update on table group_join_requests to core_system;

create table group_memberships (
  id text not null,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  created_by text not null,
  updated_by text not null,
  record_version integer not null,
  deleted_at timestamptz,
  deleted_by text,
  organization_id text not null,
  group_id text not null,
  user_id text not null,
  role text not null,
  constraint group_memberships_role_check check ((role = any (array['admin', 'member'])))
);
alter table group_memberships add constraint group_memberships_pkey primary key (id);
comment on table group_memberships is 'Membership of a user in a group.';
comment on column group_memberships.group_id is 'Group that the user belongs to.';
comment on column group_memberships.user_id is 'User who belongs to the group.';
comment on column group_memberships.role is 'Role of the user in the group.';
create index group_memberships_group_id_index on group_memberships (group_id);
create unique index group_memberships_group_id_user_id_key on group_memberships (group_id, user_id) where (deleted_at is null);
create index group_memberships_organization_id_created_at_id_index on group_memberships (organization_id, created_at, id) where (deleted_at is null);
create index group_memberships_organization_id_group_id_id_index on group_memberships (organization_id, group_id, id) where (deleted_at is null);
create index group_memberships_organization_id_id_index on group_memberships (organization_id, id) where (deleted_at is null);
create index group_memberships_organization_id_role_id_index on group_memberships (organization_id, role, id) where (deleted_at is null);
create index group_memberships_organization_id_updated_at_id_index on group_memberships (organization_id, updated_at, id) where (deleted_at is null);
create index group_memberships_organization_id_user_id_id_index on group_memberships (organization_id, user_id, id) where (deleted_at is null);
create index group_memberships_user_id_index on group_memberships (user_id);
alter table group_memberships enable row level security;
create policy group_memberships_app on group_memberships to core_app using ((organization_id = current_setting('core.organization_id', true))) with check ((organization_id = current_setting('core.organization_id', true)));
create policy group_memberships_system on group_memberships to core_system using (((coalesce(current_setting('core.organization_id', true), '') = '') or (organization_id = current_setting('core.organization_id', true)))) with check (((coalesce(current_setting('core.organization_id', true), '') = '') or (organization_id = current_setting('core.organization_id', true))));
grant select,insert,update on table group_memberships to core_app;
grant select,insert,update on table group_memberships to core_system;

create table group_settings (
  id text not null,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  created_by text not null,
  updated_by text not null,
  record_version integer not null,
  deleted_at timestamptz,
  deleted_by text,
  organization_id text not null,
  group_id text not null,
  visibility text not null,
  join_policy text not null,
  constraint group_settings_join_policy_check check ((join_policy = any (array['open', 'apply', 'invite_only']))),
  constraint group_settings_visibility_check check ((visibility = any (array['public', 'private'])))
);
alter table group_settings add constraint group_settings_pkey primary key (id);
comment on table group_settings is 'Settings of a group.';
comment on column group_settings.group_id is 'Group that these settings apply to.';
comment on column group_settings.visibility is 'Whether all members of the organization see the group (public) or only its own members (private).';
comment on column group_settings.join_policy is 'Way in which people who see the group join it: immediately (open), with the consent of one of its managers (apply), or only when a manager adds them (invite_only).';
create index group_settings_group_id_index on group_settings (group_id);
create unique index group_settings_group_id_key on group_settings (group_id) where (deleted_at is null);
create index group_settings_organization_id_created_at_id_index on group_settings (organization_id, created_at, id) where (deleted_at is null);
create index group_settings_organization_id_group_id_id_index on group_settings (organization_id, group_id, id) where (deleted_at is null);
create index group_settings_organization_id_id_index on group_settings (organization_id, id) where (deleted_at is null);
create index group_settings_organization_id_updated_at_id_index on group_settings (organization_id, updated_at, id) where (deleted_at is null);
create index group_settings_organization_id_visibility_id_index on group_settings (organization_id, visibility, id) where (deleted_at is null);
alter table group_settings enable row level security;
create policy group_settings_app on group_settings to core_app using ((organization_id = current_setting('core.organization_id', true))) with check ((organization_id = current_setting('core.organization_id', true)));
create policy group_settings_system on group_settings to core_system using (((coalesce(current_setting('core.organization_id', true), '') = '') or (organization_id = current_setting('core.organization_id', true)))) with check (((coalesce(current_setting('core.organization_id', true), '') = '') or (organization_id = current_setting('core.organization_id', true))));
grant select,insert,update on table group_settings to core_app;
grant select,insert,update on table group_settings to core_system;

create table creator_grants (
  id text not null,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  created_by text not null,
  updated_by text not null,
  record_version integer not null,
  deleted_at timestamptz,
  deleted_by text,
  organization_id text not null,
  group_id text not null,
  relation text not null,
  constraint creator_grants_relation_check check ((relation = any (array['group_creator', 'task_creator', 'file_creator'])))
);
alter table creator_grants add constraint creator_grants_pkey primary key (id);
comment on table creator_grants is 'Right of a group to create records of one kind.';
comment on column creator_grants.group_id is 'Group whose members may create records.';
comment on column creator_grants.relation is 'Kind of record that members of the group may create.';
create index creator_grants_group_id_index on creator_grants (group_id);
create unique index creator_grants_group_id_relation_key on creator_grants (group_id, relation) where (deleted_at is null);
create index creator_grants_organization_id_created_at_id_index on creator_grants (organization_id, created_at, id) where (deleted_at is null);
create index creator_grants_organization_id_group_id_id_index on creator_grants (organization_id, group_id, id) where (deleted_at is null);
create index creator_grants_organization_id_id_index on creator_grants (organization_id, id) where (deleted_at is null);
create index creator_grants_organization_id_relation_id_index on creator_grants (organization_id, relation, id) where (deleted_at is null);
create index creator_grants_organization_id_updated_at_id_index on creator_grants (organization_id, updated_at, id) where (deleted_at is null);
alter table creator_grants enable row level security;
create policy creator_grants_app on creator_grants to core_app using ((organization_id = current_setting('core.organization_id', true))) with check ((organization_id = current_setting('core.organization_id', true)));
create policy creator_grants_system on creator_grants to core_system using (((coalesce(current_setting('core.organization_id', true), '') = '') or (organization_id = current_setting('core.organization_id', true)))) with check (((coalesce(current_setting('core.organization_id', true), '') = '') or (organization_id = current_setting('core.organization_id', true))));
grant select,insert,update on table creator_grants to core_app;
grant select,insert,update on table creator_grants to core_system;

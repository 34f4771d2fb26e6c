create table custom_enum_values (
  id text not null,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  created_by text not null,
  updated_by text not null,
  record_version integer not null,
  deleted_at timestamptz,
  deleted_by text,
  organization_id text not null,
  object_type text not null,
  field text not null,
  name text not null,
  description text,
  color text not null,
  icon text,
  name_form text not null,
  constraint custom_enum_values_field_check check ((field = any (array['type', 'environment', 'scope']))),
  constraint custom_enum_values_object_type_check check ((object_type = any (array['task', 'global'])))
);
alter table custom_enum_values add constraint custom_enum_values_pkey primary key (id);
comment on table custom_enum_values is 'Value that an organization defines for a field of its records, for example a type of task. A value that a record uses cannot be deleted.';
comment on column custom_enum_values.object_type is 'Kind of the records that can have the value; global: all kinds.';
comment on column custom_enum_values.field is 'Field of a record that can have the value.';
comment on column custom_enum_values.name is 'Name of the value.';
comment on column custom_enum_values.description is 'Meaning of the value.';
comment on column custom_enum_values.color is 'Colour in the form #rrggbb.';
comment on column custom_enum_values.icon is 'Name of an icon of the user interface.';
comment on column custom_enum_values.name_form is 'Form in which `name` is compared with that of others.';
create index custom_enum_values_name_beginning on custom_enum_values (organization_id, "left"(matched_form(name), 100) collate "C") where (deleted_at is null);
create index custom_enum_values_organization_id_created_at_id_index on custom_enum_values (organization_id, created_at, id) where (deleted_at is null);
create index custom_enum_values_organization_id_field_id_index on custom_enum_values (organization_id, field, id) where (deleted_at is null);
create index custom_enum_values_organization_id_id_index on custom_enum_values (organization_id, id) where (deleted_at is null);
create index custom_enum_values_organization_id_name_order on custom_enum_values (organization_id, name collate record_order, id) where (deleted_at is null);
create unique index custom_enum_values_organization_id_object_type_fie_29a4c289_key on custom_enum_values (organization_id, object_type, field, name_form) where (deleted_at is null);
create index custom_enum_values_organization_id_object_type_id_index on custom_enum_values (organization_id, object_type, id) where (deleted_at is null);
create index custom_enum_values_organization_id_updated_at_id_index on custom_enum_values (organization_id, updated_at, id) where (deleted_at is null);
create index custom_enum_values_search_index on custom_enum_values using gin (organization_id, matched_form(((coalesce(name, '') || ' ') || coalesce(description, ''))) gin_trgm_ops, search_words(matched_form(((coalesce(name, '') || ' ') || coalesce(description, ''))))) where (deleted_at is null);
alter table custom_enum_values enable row level security;
create policy custom_enum_values_app on custom_enum_values to core_app using ((organization_id = current_setting('core.organization_id', true))) with check ((organization_id = current_setting('core.organization_id', true)));
create policy custom_enum_values_system on custom_enum_values to core_system using (((coalesce(current_setting('core.organization_id', true), '') = '') or (organization_id = current_setting('core.organization_id', true)))) with check (((coalesce(current_setting('core.organization_id', true), '') = '') or (organization_id = current_setting('core.organization_id', true))));
grant select,insert,update on table custom_enum_values to core_app;
grant select,insert,update on table custom_enum_values to core_system;

create table discussions (
  id text not null,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  created_by text not null,
  updated_by text not null,
  record_version integer not null,
  deleted_at timestamptz,
  deleted_by text,
  organization_id text not null,
  external_id text,
  is_resolved boolean not null,
  owner_id text,
  task_id text
);
alter table discussions add constraint discussions_pkey primary key (id);
comment on table discussions is 'Thread of notes. Callers who may view the record that it is about can read it.';
comment on column discussions.external_id is 'Id of the discussion in another system.';
comment on column discussions.is_resolved is 'Whether the discussion has ended.';
comment on column discussions.owner_id is 'Person who began the discussion.';
comment on column discussions.task_id is 'Task that the discussion is about.';
create index discussions_external_id_beginning on discussions (organization_id, "left"(matched_form(external_id), 100) collate "C") where (deleted_at is null);
create index discussions_organization_id_created_at_id_index on discussions (organization_id, created_at, id) where (deleted_at is null);
create unique index discussions_organization_id_external_id_key on discussions (organization_id, external_id) where (deleted_at is null);
create index discussions_organization_id_id_index on discussions (organization_id, id) where (deleted_at is null);
create index discussions_organization_id_is_resolved_id_index on discussions (organization_id, is_resolved, id) where (deleted_at is null);
create index discussions_organization_id_owner_id_id_index on discussions (organization_id, owner_id, id) where (deleted_at is null);
create index discussions_organization_id_task_id_id_index on discussions (organization_id, task_id, id) where (deleted_at is null);
create index discussions_organization_id_updated_at_id_index on discussions (organization_id, updated_at, id) where (deleted_at is null);
create index discussions_owner_id_index on discussions (owner_id) where (owner_id is not null);
create index discussions_task_id_index on discussions (task_id) where (task_id is not null);
alter table discussions enable row level security;
create policy discussions_app on discussions to core_app using ((organization_id = current_setting('core.organization_id', true))) with check ((organization_id = current_setting('core.organization_id', true)));
create policy discussions_system on discussions to core_system using (((coalesce(current_setting('core.organization_id', true), '') = '') or (organization_id = current_setting('core.organization_id', true)))) with check (((coalesce(current_setting('core.organization_id', true), '') = '') or (organization_id = current_setting('core.organization_id', true))));
grant select,insert,update on table discussions to core_app;
grant select,insert,update on table discussions to core_system;

create table entity_types (
  id text not null,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  created_by text not null,
  updated_by text not null,
  record_version integer not null,
  deleted_at timestamptz,
  deleted_by text,
  organization_id text not null,
  name text not null,
  name_form text not null
);
alter table entity_types add constraint entity_types_pkey primary key (id);
comment on table entity_types is 'Sort of company with which the organization deals, for example vendor or customer.';
comment on column entity_types.name is 'Name of the type.';
comment on column entity_types.name_form is 'Form in which `name` is compared with that of others.';
create index entity_types_name_beginning on entity_types (organization_id, "left"(matched_form(name), 100) collate "C") where (deleted_at is null);
create index entity_types_organization_id_created_at_id_index on entity_types (organization_id, created_at, id) where (deleted_at is null);
create index entity_types_organization_id_id_index on entity_types (organization_id, id) where (deleted_at is null);
create unique index entity_types_organization_id_name_form_key on entity_types (organization_id, name_form) where (deleted_at is null);
create index entity_types_organization_id_name_order on entity_types (organization_id, name collate record_order, id) where (deleted_at is null);
create index entity_types_organization_id_updated_at_id_index on entity_types (organization_id, updated_at, id) where (deleted_at is null);
create index entity_types_search_index on entity_types using gin (organization_id, matched_form(coalesce(name, '')) gin_trgm_ops, search_words(matched_form(coalesce(name, '')))) where (deleted_at is null);
alter table entity_types enable row level security;
create policy entity_types_app on entity_types to core_app using ((organization_id = current_setting('core.organization_id', true))) with check ((organization_id = current_setting('core.organization_id', true)));
create policy entity_types_system on entity_types to core_system using (((coalesce(current_setting('core.organization_id', true), '') = '') or (organization_id = current_setting('core.organization_id', true)))) with check (((coalesce(current_setting('core.organization_id', true), '') = '') or (organization_id = current_setting('core.organization_id', true))));
grant select,insert,update on table entity_types to core_app;
grant select,insert,update on table entity_types to core_system;

create table notes (
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
  title text,
  text text not null,
  is_edited boolean not null,
  owner_id text,
  task_id text,
  discussion_id text
);
alter table notes add constraint notes_pkey primary key (id);
comment on table notes is 'Comment on a task or in a discussion. Without either it is a note of its own, which only its author and the owners of the organization see.';
comment on column notes.display_id is 'Human-readable identifier; unique within the organization and immutable.';
comment on column notes.title is 'Title.';
comment on column notes.text is 'Text of the note. Mentions people as `@[Name](user:<id>)`; who is newly mentioned and may view the record is notified.';
comment on column notes.is_edited is 'Whether the note was edited after its creation.';
comment on column notes.owner_id is 'Author.';
comment on column notes.task_id is 'Task that the note comments on; everybody who may view the task may view the note.';
comment on column notes.discussion_id is 'Discussion that the note is part of; everybody who may view the discussion may view the note.';
create index notes_discussion_id_index on notes (discussion_id) where (discussion_id is not null);
create index notes_display_id_beginning on notes (organization_id, "left"(matched_form(display_id), 100) collate "C") where (deleted_at is null);
create index notes_organization_id_created_at_id_index on notes (organization_id, created_at, id) where (deleted_at is null);
create index notes_organization_id_discussion_id_id_index on notes (organization_id, discussion_id, id) where (deleted_at is null);
create unique index notes_organization_id_display_id_key on notes (organization_id, display_id) where (deleted_at is null);
create index notes_organization_id_id_index on notes (organization_id, id) where (deleted_at is null);
create index notes_organization_id_owner_id_id_index on notes (organization_id, owner_id, id) where (deleted_at is null);
create index notes_organization_id_task_id_id_index on notes (organization_id, task_id, id) where (deleted_at is null);
create index notes_organization_id_updated_at_id_index on notes (organization_id, updated_at, id) where (deleted_at is null);
create index notes_owner_id_index on notes (owner_id) where (owner_id is not null);
create index notes_search_index on notes using gin (organization_id, matched_form(((coalesce(title, '') || ' ') || coalesce(text, ''))) gin_trgm_ops, search_words(matched_form(((coalesce(title, '') || ' ') || coalesce(text, ''))))) where (deleted_at is null);
create index notes_task_id_index on notes (task_id) where (task_id is not null);
alter table notes enable row level security;
create policy notes_app on notes to core_app using ((organization_id = current_setting('core.organization_id', true))) with check ((organization_id = current_setting('core.organization_id', true)));
create policy notes_system on notes to core_system using (((coalesce(current_setting('core.organization_id', true), '') = '') or (organization_id = current_setting('core.organization_id', true)))) with check (((coalesce(current_setting('core.organization_id', true), '') = '') or (organization_id = current_setting('core.organization_id', true))));
grant select,insert,update on table notes to core_app;
grant select,insert,update on table notes to core_system;

create table saved_views (
  id text not null,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  created_by text not null,
  updated_by text not null,
  record_version integer not null,
  deleted_at timestamptz,
  deleted_by text,
  organization_id text not null,
  name text not null,
  record_kind text not null,
  visibility text not null,
  filter jsonb,
  order_by text[] not null,
  columns text[] not null,
  page_size integer,
  owner_id text,
  name_form text not null,
  constraint saved_views_visibility_check check ((visibility = any (array['private', 'organization'])))
);
alter table saved_views add constraint saved_views_pkey primary key (id);
comment on table saved_views is 'Filter, order, columns and page size of a list that a person has saved. A list that is given the id of a view is returned as the view defines.';
comment on column saved_views.name is 'Name of the view.';
comment on column saved_views.record_kind is 'Kind of the records that it lists, for example task.';
comment on column saved_views.visibility is 'Whether only its owner uses the view (private), or everybody in the organization (organization).';
comment on column saved_views.filter is 'Filter in the form of the argument `where` of GraphQL; null for all records.';
comment on column saved_views.order_by is 'Fields to sort by, with a minus before those in descending order, for example -dueAt.';
comment on column saved_views.columns is 'Fields to show, in this order; empty for those that the reader chooses.';
comment on column saved_views.page_size is 'Number of records of a page; null for the default.';
comment on column saved_views.owner_id is 'Person who saved the view.';
comment on column saved_views.name_form is 'Form in which `name` is compared with that of others.';
create index saved_views_name_beginning on saved_views (organization_id, "left"(matched_form(name), 100) collate "C") where (deleted_at is null);
create index saved_views_organization_id_created_at_id_index on saved_views (organization_id, created_at, id) where (deleted_at is null);
create index saved_views_organization_id_id_index on saved_views (organization_id, id) where (deleted_at is null);
create index saved_views_organization_id_name_order on saved_views (organization_id, name collate record_order, id) where (deleted_at is null);
create index saved_views_organization_id_owner_id_id_index on saved_views (organization_id, owner_id, id) where (deleted_at is null);
create unique index saved_views_organization_id_owner_id_record_kind_name_form_key on saved_views (organization_id, owner_id, record_kind, name_form) where (deleted_at is null);
create index saved_views_organization_id_record_kind_id_index on saved_views (organization_id, record_kind, id) where (deleted_at is null);
create index saved_views_organization_id_updated_at_id_index on saved_views (organization_id, updated_at, id) where (deleted_at is null);
create index saved_views_organization_id_visibility_id_index on saved_views (organization_id, visibility, id) where (deleted_at is null);
create index saved_views_owner_id_index on saved_views (owner_id) where (owner_id is not null);
create index saved_views_record_kind_beginning on saved_views (organization_id, "left"(matched_form(record_kind), 100) collate "C") where (deleted_at is null);
create index saved_views_search_index on saved_views using gin (organization_id, matched_form(coalesce(name, '')) gin_trgm_ops, search_words(matched_form(coalesce(name, '')))) where (deleted_at is null);
alter table saved_views enable row level security;
create policy saved_views_app on saved_views to core_app using ((organization_id = current_setting('core.organization_id', true))) with check ((organization_id = current_setting('core.organization_id', true)));
create policy saved_views_system on saved_views to core_system using (((coalesce(current_setting('core.organization_id', true), '') = '') or (organization_id = current_setting('core.organization_id', true)))) with check (((coalesce(current_setting('core.organization_id', true), '') = '') or (organization_id = current_setting('core.organization_id', true))));
grant select,insert,update on table saved_views to core_app;
grant select,insert,update on table saved_views to core_system;

create table tags (
  id text not null,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  created_by text not null,
  updated_by text not null,
  record_version integer not null,
  deleted_at timestamptz,
  deleted_by text,
  organization_id text not null,
  name text not null,
  aliases text[] not null,
  description text,
  color text not null,
  name_form text not null
);
alter table tags add constraint tags_pkey primary key (id);
comment on table tags is 'Tag that an organization uses to classify records.';
comment on column tags.name is 'Name of the tag.';
comment on column tags.aliases is 'Alternative names.';
comment on column tags.description is 'Meaning of the tag.';
comment on column tags.color is 'Colour in the form #rrggbb.';
comment on column tags.name_form is 'Form in which `name` is compared with that of others.';
create index tags_aliases_words on tags using gin (tenant_words(organization_id, aliases)) where (deleted_at is null);
create index tags_name_beginning on tags (organization_id, "left"(matched_form(name), 100) collate "C") where (deleted_at is null);
create index tags_organization_id_created_at_id_index on tags (organization_id, created_at, id) where (deleted_at is null);
create index tags_organization_id_id_index on tags (organization_id, id) where (deleted_at is null);
create unique index tags_organization_id_name_form_key on tags (organization_id, name_form) where (deleted_at is null);
create index tags_organization_id_name_order on tags (organization_id, name collate record_order, id) where (deleted_at is null);
create index tags_organization_id_updated_at_id_index on tags (organization_id, updated_at, id) where (deleted_at is null);
create index tags_search_index on tags using gin (organization_id, matched_form(((coalesce(name, '') || ' ') || coalesce(description, ''))) gin_trgm_ops, search_words(matched_form(((coalesce(name, '') || ' ') || coalesce(description, ''))))) where (deleted_at is null);
alter table tags enable row level security;
create policy tags_app on tags to core_app using ((organization_id = current_setting('core.organization_id', true))) with check ((organization_id = current_setting('core.organization_id', true)));
create policy tags_system on tags to core_system using (((coalesce(current_setting('core.organization_id', true), '') = '') or (organization_id = current_setting('core.organization_id', true)))) with check (((coalesce(current_setting('core.organization_id', true), '') = '') or (organization_id = current_setting('core.organization_id', true))));
grant select,insert,update on table tags to core_app;
grant select,insert,update on table tags to core_system;

create table tasks (
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
  title text not null,
  details text,
  status text not null,
  priority integer not null,
  due_at timestamptz,
  completed_at timestamptz,
  tags text[] not null,
  assignee_id text,
  assigner_id text,
  parent_id text,
  type_id text,
  environment_id text,
  scope_id text,
  external_id text,
  external_urls text[] not null,
  metadata jsonb,
  constraint tasks_status_check check ((status = any (array['open', 'in_progress', 'in_review', 'completed', 'wont_do'])))
);
alter table tasks add constraint tasks_pkey primary key (id);
comment on table tasks is 'Piece of work assigned to a user.';
comment on column tasks.display_id is 'Human-readable identifier; unique within the organization and immutable.';
comment on column tasks.title is 'Title in one line.';
comment on column tasks.details is 'Full description. Mentions people as `@[Name](user:<id>)`; who is newly mentioned and may view the record is notified.';
comment on column tasks.status is 'Progress status.';
comment on column tasks.priority is 'Priority; higher numbers are more important.';
comment on column tasks.due_at is 'Due date.';
comment on column tasks.completed_at is 'When the task was completed.';
comment on column tasks.tags is 'Search tags.';
comment on column tasks.assignee_id is 'Assignee: the user who does the task.';
comment on column tasks.assigner_id is 'Assigner: the user who requested the task.';
comment on column tasks.parent_id is 'Parent task.';
comment on column tasks.type_id is 'Type of the task.';
comment on column tasks.environment_id is 'Environment that the task concerns.';
comment on column tasks.scope_id is 'Scope that the task concerns.';
comment on column tasks.external_id is 'Id of the task in another system.';
comment on column tasks.external_urls is 'Addresses of the task in other systems.';
comment on column tasks.metadata is 'Custom data of API clients, as JSON. The server stores it and does not interpret it.';
create index tasks_assignee_id_index on tasks (assignee_id) where (assignee_id is not null);
create index tasks_assigner_id_index on tasks (assigner_id) where (assigner_id is not null);
create index tasks_display_id_beginning on tasks (organization_id, "left"(matched_form(display_id), 100) collate "C") where (deleted_at is null);
create index tasks_due_at_index on tasks (due_at) where ((deleted_at is null) and (completed_at is null));
create index tasks_environment_id_index on tasks (environment_id) where (environment_id is not null);
create index tasks_external_id_beginning on tasks (organization_id, "left"(matched_form(external_id), 100) collate "C") where (deleted_at is null);
create index tasks_organization_id_assignee_id_id_index on tasks (organization_id, assignee_id, id) where (deleted_at is null);
create index tasks_organization_id_assigner_id_id_index on tasks (organization_id, assigner_id, id) where (deleted_at is null);
create index tasks_organization_id_created_at_id_index on tasks (organization_id, created_at, id) where (deleted_at is null);
create unique index tasks_organization_id_display_id_key on tasks (organization_id, display_id) where (deleted_at is null);
create index tasks_organization_id_due_at_descending on tasks (organization_id, due_at desc nulls last, id desc) where (deleted_at is null);
create index tasks_organization_id_due_at_id_index on tasks (organization_id, due_at, id) where (deleted_at is null);
create index tasks_organization_id_environment_id_id_index on tasks (organization_id, environment_id, id) where (deleted_at is null);
create unique index tasks_organization_id_external_id_key on tasks (organization_id, external_id) where (deleted_at is null);
create index tasks_organization_id_id_index on tasks (organization_id, id) where (deleted_at is null);
create index tasks_organization_id_parent_id_id_index on tasks (organization_id, parent_id, id) where (deleted_at is null);
create index tasks_organization_id_priority_id_index on tasks (organization_id, priority, id) where (deleted_at is null);
create index tasks_organization_id_scope_id_id_index on tasks (organization_id, scope_id, id) where (deleted_at is null);
create index tasks_organization_id_status_id_index on tasks (organization_id, status, id) where (deleted_at is null);
create index tasks_organization_id_title_order on tasks (organization_id, title collate record_order, id) where (deleted_at is null);
create index tasks_organization_id_type_id_id_index on tasks (organization_id, type_id, id) where (deleted_at is null);
create index tasks_organization_id_updated_at_id_index on tasks (organization_id, updated_at, id) where (deleted_at is null);
create index tasks_parent_id_index on tasks (parent_id) where (parent_id is not null);
create index tasks_scope_id_index on tasks (scope_id) where (scope_id is not null);
create index tasks_search_index on tasks using gin (organization_id, matched_form(((((coalesce(title, '') || ' ') || coalesce(details, '')) || ' ') || coalesce(external_id, ''))) gin_trgm_ops, search_words(matched_form(((((coalesce(title, '') || ' ') || coalesce(details, '')) || ' ') || coalesce(external_id, ''))))) where (deleted_at is null);
create index tasks_tags_words on tasks using gin (tenant_words(organization_id, tags)) where (deleted_at is null);
create index tasks_title_beginning on tasks (organization_id, "left"(matched_form(title), 100) collate "C") where (deleted_at is null);
create index tasks_type_id_index on tasks (type_id) where (type_id is not null);
alter table tasks enable row level security;
create policy tasks_app on tasks to core_app using ((organization_id = current_setting('core.organization_id', true))) with check ((organization_id = current_setting('core.organization_id', true)));
create policy tasks_system on tasks to core_system using (((coalesce(current_setting('core.organization_id', true), '') = '') or (organization_id = current_setting('core.organization_id', true)))) with check (((coalesce(current_setting('core.organization_id', true), '') = '') or (organization_id = current_setting('core.organization_id', true))));
grant select,insert,update on table tasks to core_app;
grant select,insert,update on table tasks to core_system;

create table task_shares (
  id text not null,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  created_by text not null,
  updated_by text not null,
  record_version integer not null,
  deleted_at timestamptz,
  deleted_by text,
  organization_id text not null,
  task_id text not null,
  group_id text not null,
  relation text not null,
  constraint task_shares_relation_check check ((relation = any (array['viewer', 'editor', 'blocked'])))
);
alter table task_shares add constraint task_shares_pkey primary key (id);
comment on table task_shares is 'Access of a group to one task: granted or blocked.';
comment on column task_shares.task_id is 'Task that is shared with the group, or blocked for it.';
comment on column task_shares.group_id is 'Group that gets or loses access to the record.';
comment on column task_shares.relation is 'Relation of the group to the record.';
create index task_shares_group_id_index on task_shares (group_id);
create index task_shares_organization_id_created_at_id_index on task_shares (organization_id, created_at, id) where (deleted_at is null);
create index task_shares_organization_id_group_id_id_index on task_shares (organization_id, group_id, id) where (deleted_at is null);
create index task_shares_organization_id_id_index on task_shares (organization_id, id) where (deleted_at is null);
create index task_shares_organization_id_relation_id_index on task_shares (organization_id, relation, id) where (deleted_at is null);
create index task_shares_organization_id_task_id_id_index on task_shares (organization_id, task_id, id) where (deleted_at is null);
create index task_shares_organization_id_updated_at_id_index on task_shares (organization_id, updated_at, id) where (deleted_at is null);
create unique index task_shares_task_id_group_id_relation_key on task_shares (task_id, group_id, relation) where (deleted_at is null);
create index task_shares_task_id_index on task_shares (task_id);
alter table task_shares enable row level security;
create policy task_shares_app on task_shares to core_app using ((organization_id = current_setting('core.organization_id', true))) with check ((organization_id = current_setting('core.organization_id', true)));
create policy task_shares_system on task_shares to core_system using (((coalesce(current_setting('core.organization_id', true), '') = '') or (organization_id = current_setting('core.organization_id', true)))) with check (((coalesce(current_setting('core.organization_id', true), '') = '') or (organization_id = current_setting('core.organization_id', true))));
grant select,insert,update on table task_shares to core_app;
grant select,insert,update on table task_shares to core_system;

create table task_files (
  id text not null,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  created_by text not null,
  updated_by text not null,
  record_version integer not null,
  deleted_at timestamptz,
  deleted_by text,
  organization_id text not null,
  task_id text not null,
  content text,
  name text not null,
  content_type text not null,
  size_bytes bigint not null,
  metadata jsonb
);
alter table task_files add constraint task_files_pkey primary key (id);
comment on table task_files is 'File of one task.';
comment on column task_files.task_id is 'Task that the file belongs to.';
comment on column task_files.content is 'Content.';
comment on column task_files.name is 'File name; default: that of the upload.';
comment on column task_files.content_type is 'Media type (MIME type) that the content has.';
comment on column task_files.size_bytes is 'Size in bytes.';
comment on column task_files.metadata is 'Metadata supplied by the uploader.';
create index task_files_content_type_beginning on task_files (organization_id, "left"(matched_form(content_type), 100) collate "C") where (deleted_at is null);
create index task_files_name_beginning on task_files (organization_id, "left"(matched_form(name), 100) collate "C") where (deleted_at is null);
create index task_files_organization_id_content_type_id_index on task_files (organization_id, content_type, id) where (deleted_at is null);
create index task_files_organization_id_created_at_id_index on task_files (organization_id, created_at, id) where (deleted_at is null);
create index task_files_organization_id_id_index on task_files (organization_id, id) where (deleted_at is null);
create index task_files_organization_id_name_order on task_files (organization_id, name collate record_order, id) where (deleted_at is null);
create index task_files_organization_id_size_bytes_id_index on task_files (organization_id, size_bytes, id) where (deleted_at is null);
create index task_files_organization_id_task_id_id_index on task_files (organization_id, task_id, id) where (deleted_at is null);
create index task_files_organization_id_updated_at_id_index on task_files (organization_id, updated_at, id) where (deleted_at is null);
create index task_files_search_index on task_files using gin (organization_id, matched_form(coalesce(name, '')) gin_trgm_ops, search_words(matched_form(coalesce(name, '')))) where (deleted_at is null);
create index task_files_task_id_index on task_files (task_id);
alter table task_files enable row level security;
create policy task_files_app on task_files to core_app using ((organization_id = current_setting('core.organization_id', true))) with check ((organization_id = current_setting('core.organization_id', true)));
create policy task_files_system on task_files to core_system using (((coalesce(current_setting('core.organization_id', true), '') = '') or (organization_id = current_setting('core.organization_id', true)))) with check (((coalesce(current_setting('core.organization_id', true), '') = '') or (organization_id = current_setting('core.organization_id', true))));
grant select,insert,update on table task_files to core_app;
grant select,insert,update on table task_files to core_system;

create table task_groups (
  id text not null,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  created_by text not null,
  updated_by text not null,
  record_version integer not null,
  deleted_at timestamptz,
  deleted_by text,
  organization_id text not null,
  task_id text not null,
  group_id text not null
);
alter table task_groups add constraint task_groups_pkey primary key (id);
comment on table task_groups is 'Link of one task with one group. A link gives nobody access: a task share does.';
comment on column task_groups.task_id is 'Task that is linked.';
comment on column task_groups.group_id is 'Group that is linked.';
create index task_groups_group_id_index on task_groups (group_id);
create index task_groups_organization_id_created_at_id_index on task_groups (organization_id, created_at, id) where (deleted_at is null);
create index task_groups_organization_id_group_id_id_index on task_groups (organization_id, group_id, id) where (deleted_at is null);
create index task_groups_organization_id_id_index on task_groups (organization_id, id) where (deleted_at is null);
create index task_groups_organization_id_task_id_id_index on task_groups (organization_id, task_id, id) where (deleted_at is null);
create index task_groups_organization_id_updated_at_id_index on task_groups (organization_id, updated_at, id) where (deleted_at is null);
create unique index task_groups_task_id_group_id_key on task_groups (task_id, group_id) where (deleted_at is null);
create index task_groups_task_id_index on task_groups (task_id);
alter table task_groups enable row level security;
create policy task_groups_app on task_groups to core_app using ((organization_id = current_setting('core.organization_id', true))) with check ((organization_id = current_setting('core.organization_id', true)));
create policy task_groups_system on task_groups to core_system using (((coalesce(current_setting('core.organization_id', true), '') = '') or (organization_id = current_setting('core.organization_id', true)))) with check (((coalesce(current_setting('core.organization_id', true), '') = '') or (organization_id = current_setting('core.organization_id', true))));
grant select,insert,update on table task_groups to core_app;
grant select,insert,update on table task_groups to core_system;

create table task_reminders (
  task_id text not null,
  due_at timestamptz not null,
  stage text not null,
  told_at timestamptz not null,
  constraint task_reminders_stage_check check ((stage = any (array['due_tomorrow', 'due_today', 'overdue'])))
);
alter table task_reminders add constraint task_reminders_pkey primary key (task_id, due_at, stage);
create index task_reminders_age on task_reminders (told_at);
grant select,insert,delete on table task_reminders to core_system;

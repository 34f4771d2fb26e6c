create table files (
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
  content_type text not null,
  size_bytes bigint not null,
  metadata jsonb,
  owner_id text,
  content text
);
alter table files add constraint files_pkey primary key (id);
comment on table files is 'File of the organization. Files of other records, such as tasks, have kinds of their own.';
comment on column files.name is 'File name; default: that of the upload.';
comment on column files.content_type is 'Media type (MIME type) that the content has.';
comment on column files.size_bytes is 'Size in bytes.';
comment on column files.metadata is 'Metadata supplied by the uploader.';
comment on column files.owner_id is 'Uploader.';
comment on column files.content is 'Content. A change replaces it.';
create index files_content_type_beginning on files (organization_id, "left"(matched_form(content_type), 100) collate "C") where (deleted_at is null);
create index files_name_beginning on files (organization_id, "left"(matched_form(name), 100) collate "C") where (deleted_at is null);
create index files_organization_id_content_type_id_index on files (organization_id, content_type, id) where (deleted_at is null);
create index files_organization_id_created_at_id_index on files (organization_id, created_at, id) where (deleted_at is null);
create index files_organization_id_id_index on files (organization_id, id) where (deleted_at is null);
create index files_organization_id_name_order on files (organization_id, name collate record_order, id) where (deleted_at is null);
create index files_organization_id_owner_id_id_index on files (organization_id, owner_id, id) where (deleted_at is null);
create index files_organization_id_size_bytes_id_index on files (organization_id, size_bytes, id) where (deleted_at is null);
create index files_organization_id_updated_at_id_index on files (organization_id, updated_at, id) where (deleted_at is null);
create index files_owner_id_index on files (owner_id) where (owner_id is not null);
create index files_search_index on files using gin (organization_id, matched_form(coalesce(name, '')) gin_trgm_ops, search_words(matched_form(coalesce(name, '')))) where (deleted_at is null);
alter table files enable row level security;
create policy files_app on files to core_app using ((organization_id = current_setting('core.organization_id', true))) with check ((organization_id = current_setting('core.organization_id', true)));
create policy files_system on files to core_system using (((coalesce(current_setting('core.organization_id', true), '') = '') or (organization_id = current_setting('core.organization_id', true)))) with check (((coalesce(current_setting('core.organization_id', true), '') = '') or (organization_id = current_setting('core.organization_id', true))));
grant select,insert,update on table files to core_app;
grant select,insert,update on table files to core_system;

create table file_shares (
  id text not null,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  created_by text not null,
  updated_by text not null,
  record_version integer not null,
  deleted_at timestamptz,
  deleted_by text,
  organization_id text not null,
  file_id text not null,
  group_id text not null,
  relation text not null,
  constraint file_shares_relation_check check ((relation = any (array['viewer', 'editor', 'blocked'])))
);
alter table file_shares add constraint file_shares_pkey primary key (id);
comment on table file_shares is 'Access of a group to one file: granted or blocked.';
comment on column file_shares.file_id is 'File that is shared with the group, or blocked for it.';
comment on column file_shares.group_id is 'Group that gets or loses access to the record.';
comment on column file_shares.relation is 'Relation of the group to the record.';
create unique index file_shares_file_id_group_id_relation_key on file_shares (file_id, group_id, relation) where (deleted_at is null);
create index file_shares_file_id_index on file_shares (file_id);
create index file_shares_group_id_index on file_shares (group_id);
create index file_shares_organization_id_created_at_id_index on file_shares (organization_id, created_at, id) where (deleted_at is null);
create index file_shares_organization_id_file_id_id_index on file_shares (organization_id, file_id, id) where (deleted_at is null);
create index file_shares_organization_id_group_id_id_index on file_shares (organization_id, group_id, id) where (deleted_at is null);
create index file_shares_organization_id_id_index on file_shares (organization_id, id) where (deleted_at is null);
create index file_shares_organization_id_relation_id_index on file_shares (organization_id, relation, id) where (deleted_at is null);
create index file_shares_organization_id_updated_at_id_index on file_shares (organization_id, updated_at, id) where (deleted_at is null);
alter table file_shares enable row level security;
create policy file_shares_app on file_shares to core_app using ((organization_id = current_setting('core.organization_id', true))) with check ((organization_id = current_setting('core.organization_id', true)));
create policy file_shares_system on file_shares to core_system using (((coalesce(current_setting('core.organization_id', true), '') = '') or (organization_id = current_setting('core.organization_id', true)))) with check (((coalesce(current_setting('core.organization_id', true), '') = '') or (organization_id = current_setting('core.organization_id', true))));
grant select,insert,update on table file_shares to core_app;
grant select,insert,update on table file_shares to core_system;

create table file_verdicts (
  id text not null,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  created_by text not null,
  updated_by text not null,
  record_version integer not null,
  deleted_at timestamptz,
  deleted_by text,
  organization_id text not null,
  object_id text not null,
  verdict text not null,
  scanner text not null,
  details text,
  file_id text,
  task_file_id text,
  constraint file_verdicts_verdict_check check ((verdict = any (array['clean', 'infected'])))
);
alter table file_verdicts add constraint file_verdicts_pkey primary key (id);
comment on table file_verdicts is 'Verdict of a scanner on one stored file. The latest one applies.';
comment on column file_verdicts.object_id is 'Id of the stored file on which the verdict is: `id` of a StoredFile, not of the record that has it.';
comment on column file_verdicts.verdict is 'Result of the scanner.';
comment on column file_verdicts.scanner is 'Name and version of the scanner.';
comment on column file_verdicts.details is 'Finding, in words of the scanner.';
comment on column file_verdicts.file_id is 'File of the organization that has the stored file; null for another kind of record.';
comment on column file_verdicts.task_file_id is 'File of a task that has the stored file; null for another kind of record.';
create index file_verdicts_file_id_index on file_verdicts (file_id) where (file_id is not null);
create index file_verdicts_object_id_beginning on file_verdicts (organization_id, "left"(matched_form(object_id), 100) collate "C") where (deleted_at is null);
create index file_verdicts_organization_id_created_at_id_index on file_verdicts (organization_id, created_at, id) where (deleted_at is null);
create index file_verdicts_organization_id_file_id_id_index on file_verdicts (organization_id, file_id, id) where (deleted_at is null);
create index file_verdicts_organization_id_id_index on file_verdicts (organization_id, id) where (deleted_at is null);
create index file_verdicts_organization_id_object_id_id_index on file_verdicts (organization_id, object_id, id) where (deleted_at is null);
create index file_verdicts_organization_id_task_file_id_id_index on file_verdicts (organization_id, task_file_id, id) where (deleted_at is null);
create index file_verdicts_organization_id_updated_at_id_index on file_verdicts (organization_id, updated_at, id) where (deleted_at is null);
create index file_verdicts_organization_id_verdict_id_index on file_verdicts (organization_id, verdict, id) where (deleted_at is null);
create index file_verdicts_task_file_id_index on file_verdicts (task_file_id) where (task_file_id is not null);
alter table file_verdicts enable row level security;
create policy file_verdicts_app on file_verdicts to core_app using ((organization_id = current_setting('core.organization_id', true))) with check ((organization_id = current_setting('core.organization_id', true)));
create policy file_verdicts_system on file_verdicts to core_system using (((coalesce(current_setting('core.organization_id', true), '') = '') or (organization_id = current_setting('core.organization_id', true)))) with check (((coalesce(current_setting('core.organization_id', true), '') = '') or (organization_id = current_setting('core.organization_id', true))));
grant select,insert,update on table file_verdicts to core_app;
grant select,insert,update on table file_verdicts to core_system;

create table exports (
  id text not null,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  created_by text not null,
  updated_by text not null,
  record_version integer not null,
  deleted_at timestamptz,
  deleted_by text,
  organization_id text not null,
  record_kind text not null,
  format text not null,
  fields text[] not null,
  filters jsonb,
  order_by text[] not null,
  status text not null,
  content text,
  expires_at timestamptz,
  done_rows bigint not null,
  total_rows bigint,
  error_code text,
  error_message text,
  finished_at timestamptz,
  requestor_id text,
  run_id text,
  token_id text,
  constraint exports_format_check check ((format = any (array['csv', 'json']))),
  constraint exports_status_check check ((status = any (array['pending', 'running', 'completed', 'failed', 'cancelled', 'expired'])))
);
alter table exports add constraint exports_pkey primary key (id);
comment on table exports is 'Document with records of one kind, which the server writes page by page with the rights that the person or API token has at the time of each page.';
comment on column exports.record_kind is 'Kind of the records, such as `task`.';
comment on column exports.format is 'Format of the document.';
comment on column exports.fields is 'Fields of each record, in this order; empty for all that an import needs.';
comment on column exports.filters is 'Only records that match: the `where` of the list in GraphQL, with enum values in any case.';
comment on column exports.order_by is 'Fields by which the records are sorted, with a minus before those in descending order; then by id.';
comment on column exports.status is 'Status of the work; expired: the document was removed.';
comment on column exports.content is 'The document, once it is complete, until it expires.';
comment on column exports.expires_at is 'When the document is removed.';
comment on column exports.done_rows is 'Number of records that are written so far.';
comment on column exports.total_rows is 'Number of records of the whole work; null until it is known.';
comment on column exports.error_code is 'Code of the error with which the work failed; /docs/errors lists all codes.';
comment on column exports.error_message is 'Why the work failed.';
comment on column exports.finished_at is 'When the work completed, failed or was cancelled.';
comment on column exports.requestor_id is 'Person who started the work; null for an API token.';
comment on column exports.run_id is 'Id of the workflow run that does the work.';
comment on column exports.token_id is 'Id of the API token or personal token with which the work was started, within whose scopes it stays; null for a session.';
create index exports_organization_id_created_at_id_index on exports (organization_id, created_at, id) where (deleted_at is null);
create index exports_organization_id_format_id_index on exports (organization_id, format, id) where (deleted_at is null);
create index exports_organization_id_id_index on exports (organization_id, id) where (deleted_at is null);
create index exports_organization_id_record_kind_id_index on exports (organization_id, record_kind, id) where (deleted_at is null);
create index exports_organization_id_status_id_index on exports (organization_id, status, id) where (deleted_at is null);
create index exports_organization_id_updated_at_id_index on exports (organization_id, updated_at, id) where (deleted_at is null);
create index exports_record_kind_beginning on exports (organization_id, "left"(matched_form(record_kind), 100) collate "C") where (deleted_at is null);
create index exports_requestor_id_index on exports (requestor_id) where (requestor_id is not null);
create index exports_status_expires_at_index on exports (status, expires_at) where (deleted_at is null);
alter table exports enable row level security;
create policy exports_app on exports to core_app using ((organization_id = current_setting('core.organization_id', true))) with check ((organization_id = current_setting('core.organization_id', true)));
create policy exports_system on exports to core_system using (((coalesce(current_setting('core.organization_id', true), '') = '') or (organization_id = current_setting('core.organization_id', true)))) with check (((coalesce(current_setting('core.organization_id', true), '') = '') or (organization_id = current_setting('core.organization_id', true))));
grant select,insert,update on table exports to core_app;
grant select,insert,update on table exports to core_system;

create table imports (
  id text not null,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  created_by text not null,
  updated_by text not null,
  record_version integer not null,
  deleted_at timestamptz,
  deleted_by text,
  organization_id text not null,
  record_kind text not null,
  action text not null,
  content text not null,
  status text not null,
  problems jsonb,
  done_rows bigint not null,
  total_rows bigint,
  error_code text,
  error_message text,
  finished_at timestamptz,
  requestor_id text,
  run_id text,
  token_id text,
  constraint imports_action_check check ((action = any (array['create', 'update']))),
  constraint imports_status_check check ((status = any (array['pending', 'running', 'completed', 'failed', 'cancelled'])))
);
alter table imports add constraint imports_pkey primary key (id);
comment on table imports is 'CSV document from which the server creates or changes records of one kind: all of them or none, with the rights of the person or API token that started it.';
comment on column imports.record_kind is 'Kind of the records, such as `task`.';
comment on column imports.action is 'Whether the document creates records, or changes those that its rows name.';
comment on column imports.content is 'The document, in the format of `createBulkCSV…`.';
comment on column imports.status is 'Status of the work.';
comment on column imports.problems is 'Problems of the document: up to 100 messages with line and column, in the order of the lines.';
comment on column imports.done_rows is 'Number of records that are checked or written so far.';
comment on column imports.total_rows is 'Number of records of the whole work; null until it is known.';
comment on column imports.error_code is 'Code of the error with which the work failed; /docs/errors lists all codes.';
comment on column imports.error_message is 'Why the work failed.';
comment on column imports.finished_at is 'When the work completed, failed or was cancelled.';
comment on column imports.requestor_id is 'Person who started the work; null for an API token.';
comment on column imports.run_id is 'Id of the workflow run that does the work.';
comment on column imports.token_id is 'Id of the API token or personal token with which the work was started, within whose scopes it stays; null for a session.';
create index imports_organization_id_action_id_index on imports (organization_id, action, id) where (deleted_at is null);
create index imports_organization_id_created_at_id_index on imports (organization_id, created_at, id) where (deleted_at is null);
create index imports_organization_id_id_index on imports (organization_id, id) where (deleted_at is null);
create index imports_organization_id_record_kind_id_index on imports (organization_id, record_kind, id) where (deleted_at is null);
create index imports_organization_id_status_id_index on imports (organization_id, status, id) where (deleted_at is null);
create index imports_organization_id_updated_at_id_index on imports (organization_id, updated_at, id) where (deleted_at is null);
create index imports_record_kind_beginning on imports (organization_id, "left"(matched_form(record_kind), 100) collate "C") where (deleted_at is null);
create index imports_requestor_id_index on imports (requestor_id) where (requestor_id is not null);
alter table imports enable row level security;
create policy imports_app on imports to core_app using ((organization_id = current_setting('core.organization_id', true))) with check ((organization_id = current_setting('core.organization_id', true)));
create policy imports_system on imports to core_system using (((coalesce(current_setting('core.organization_id', true), '') = '') or (organization_id = current_setting('core.organization_id', true)))) with check (((coalesce(current_setting('core.organization_id', true), '') = '') or (organization_id = current_setting('core.organization_id', true))));
grant select,insert,update on table imports to core_app;
grant select,insert,update on table imports to core_system;

create table export_pages (
  run_id text not null,
  export_id text not null,
  number integer not null,
  bytes bytea not null,
  row_count integer not null,
  next text
);
alter table export_pages add constraint export_pages_pkey primary key (run_id, number);
grant select,insert,delete on table export_pages to core_system;

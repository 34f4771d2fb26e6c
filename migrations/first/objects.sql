create table stored_objects (
  id text not null,
  organization_id text,
  provider text not null,
  bucket text not null,
  region text default '' not null,
  key text not null,
  state text not null,
  name text not null,
  content_type text,
  size_bytes bigint,
  sha256 bytea,
  version text,
  owner_kind text,
  owner_id text,
  owner_field text,
  verdict text,
  created_at timestamptz not null,
  owned_at timestamptz,
  released_at timestamptz,
  copy_due_at timestamptz,
  constraint stored_objects_check check (((state = any (array['receiving', 'removing'])) or (num_nulls(content_type, size_bytes, sha256, version) = 0))),
  constraint stored_objects_check1 check (((state <> 'owned') or (num_nulls(owner_kind, owner_id, owner_field, owned_at) = 0))),
  constraint stored_objects_provider_check check ((provider = any (array['bucketstore', 'edgestore', 'cloudstore', 'disk', 'database']))),
  constraint stored_objects_state_check check ((state = any (array['receiving', 'ready', 'owned', 'released', 'removing']))),
  constraint stored_objects_verdict_check check ((verdict = any (array['clean', 'infected'])))
);
alter table stored_objects add constraint stored_objects_pkey primary key (id);
alter table stored_objects add constraint stored_objects_provider_bucket_key_key unique (provider, bucket, key);
create index stored_objects_copy_due on stored_objects (provider, (case when organization_id is null then '-'::text else organization_id end), copy_due_at, id) where ((copy_due_at is not null) and (state = 'owned'));
create index stored_objects_organization on stored_objects (organization_id);
create unique index stored_objects_owner on stored_objects (owner_id, owner_field, owner_kind) where (state = 'owned');
create index stored_objects_place on stored_objects (provider, bucket, key collate "C");
create index stored_objects_released on stored_objects (released_at) where (state = any (array['released', 'removing']));
alter table stored_objects enable row level security;
create policy stored_objects_system on stored_objects to core_system using (((coalesce(current_setting('core.organization_id', true), '') = '') or (organization_id = current_setting('core.organization_id', true)))) with check (((coalesce(current_setting('core.organization_id', true), '') = '') or (organization_id = current_setting('core.organization_id', true))));
grant select,insert,delete,update on table stored_objects to core_system;
grant select on table stored_objects to core_app;

create table uploads (
  id text not null,
  object_id text not null,
  route text not null,
  actor text not null,
  organization_id text,
  purpose text,
  state text not null,
  declared jsonb not null,
  problem jsonb,
  parts_ref jsonb,
  received bigint default 0 not null,
  tail_bytes integer default 0 not null,
  writer text,
  writer_until timestamptz,
  check_due_at timestamptz,
  created_at timestamptz not null,
  expires_at timestamptz not null,
  constraint uploads_route_check check ((route = any (array['multipart', 'direct', 'resumable']))),
  constraint uploads_state_check check ((state = any (array['receiving', 'arrived', 'ready', 'refused', 'used'])))
);
alter table uploads add constraint uploads_pkey primary key (id);
create index uploads_actor on uploads (actor) where (state <> 'used');
create index uploads_check_due on uploads ((case when organization_id is null then '-'::text else organization_id end), check_due_at, id) where (state = 'arrived');
create index uploads_expires on uploads (expires_at);
create index uploads_object on uploads (object_id);
grant select,insert,delete,update on table uploads to core_system;

create table upload_parts (
  upload_id text not null,
  number integer not null,
  size bigint not null,
  tag text not null,
  constraint upload_parts_number_check check ((number > 0))
);
alter table upload_parts add constraint upload_parts_pkey primary key (upload_id, number);
grant select,insert,delete,update on table upload_parts to core_system;

create table object_copies (
  object_id text not null,
  provider text not null,
  bucket text not null,
  region text default '' not null,
  key text not null,
  version text,
  state text not null,
  parts_ref jsonb,
  copied_bytes bigint default 0 not null,
  attempts integer default 0 not null,
  problem text,
  verified_at timestamptz,
  checked_at timestamptz,
  changed_at timestamptz not null,
  constraint object_copies_check check (((state <> 'verified') or (num_nulls(version, verified_at, checked_at) = 0))),
  constraint object_copies_provider_check check ((provider = any (array['bucketstore', 'edgestore', 'cloudstore', 'disk', 'database']))),
  constraint object_copies_state_check check ((state = any (array['copying', 'verified', 'failed'])))
);
alter table object_copies add constraint object_copies_pkey primary key (object_id);
create index object_copies_checked on object_copies (checked_at) where (state = 'verified');
create index object_copies_failed on object_copies (changed_at) where (state = 'failed');
create index object_copies_place on object_copies (provider, bucket, key collate "C");
grant select,insert,delete,update on table object_copies to core_system;

create table object_blobs (
  namespace text not null,
  key text not null,
  size_bytes bigint,
  version text,
  finished_at timestamptz
);
alter table object_blobs add constraint object_blobs_pkey primary key (namespace, key);
grant select,insert,delete,update on table object_blobs to core_system;

create table object_chunks (
  namespace text not null,
  key text not null,
  number integer not null,
  content bytea not null
);
alter table object_chunks alter column content set storage external;
alter table object_chunks add constraint object_chunks_pkey primary key (namespace, key, number);
grant select,insert,delete,update on table object_chunks to core_system;

create table file_operations (
  id text not null,
  at timestamptz not null,
  operation text not null,
  object_id text,
  organization_id text,
  operator text not null,
  reason text not null,
  constraint file_operations_operation_check check ((operation = any (array['restore', 'restore-missing', 'restore-all', 'purge'])))
);
alter table file_operations add constraint file_operations_pkey primary key (id);
create index file_operations_object on file_operations (object_id);
grant select,insert on table file_operations to core_system;

create table used_links (
  nonce bytea not null,
  expires_at timestamptz not null
);
alter table used_links add constraint used_links_pkey primary key (nonce);
create index used_links_expires on used_links (expires_at);
grant select,insert,delete,update on table used_links to core_system;

create table record_kinds (
  id text not null,
  kind text not null,
  organization_id text
);
alter table record_kinds add constraint record_kinds_pkey primary key (id);
grant select on table record_kinds to core_system;

create table desired_tuples (
  object text not null,
  relation text not null,
  subject text not null,
  organization_id text,
  present boolean not null,
  version bigint default 1 not null,
  applied_version bigint default 0 not null,
  confirm_at timestamptz,
  raises boolean default true not null
);
alter table desired_tuples add constraint desired_tuples_pkey primary key (object, relation, subject);
create index desired_tuples_subject on desired_tuples (subject, object) where present;
create index desired_tuples_unapplied on desired_tuples (object, relation, subject) where (applied_version < version);
create index desired_tuples_unconfirmed on desired_tuples (confirm_at) where (confirm_at is not null);
create index desired_tuples_waiting on desired_tuples (coalesce(organization_id, 'system')) where (applied_version < version);
grant select,insert,delete,update on table desired_tuples to core_system;

create table authorization_revisions (
  scope text not null,
  revision bigint not null
);
alter table authorization_revisions add constraint authorization_revisions_pkey primary key (scope);
grant select on table authorization_revisions to core_system;

create table caller_changes (
  scope bigint not null,
  xid xid8 default pg_current_xact_id() not null
);
create index caller_changes_scope_xid on caller_changes (scope, xid);
create index caller_changes_xid on caller_changes (xid);
grant select on table caller_changes to core_app;
grant select on table caller_changes to core_system;

create table sign_in_failures (
  key text not null,
  failures integer not null,
  first_failed_at timestamptz not null,
  last_failed_at timestamptz not null
);
alter table sign_in_failures add constraint sign_in_failures_pkey primary key (key);
grant select,insert,delete,update on table sign_in_failures to core_system;

create table operators (
  id text not null,
  user_id text not null,
  granted_at timestamptz not null,
  granted_by text not null,
  grant_reason text not null,
  revoked_at timestamptz,
  revoked_by text,
  revoke_reason text,
  constraint operators_check check ((((revoked_at is null) = (revoked_by is null)) and ((revoked_at is null) = (revoke_reason is null))))
);
alter table operators add constraint operators_pkey primary key (id);
create unique index operators_now on operators (user_id) where (revoked_at is null);
grant select,insert on table operators to core_system;
grant update(revoked_at) on table operators to core_system;
grant update(revoked_by) on table operators to core_system;
grant update(revoke_reason) on table operators to core_system;

create table idempotent_requests (
  key bytea not null,
  answer text not null,
  expires_at timestamptz not null
);
alter table idempotent_requests add constraint idempotent_requests_pkey primary key (key);
create index idempotent_requests_expires on idempotent_requests (expires_at);
grant select,insert,delete,update on table idempotent_requests to core_system;

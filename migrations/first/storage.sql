create table installation (
  id text not null,
  only_row boolean default true not null,
  constraint installation_only_row_check check (only_row)
);
alter table installation add constraint installation_pkey primary key (only_row);

create table second_database (
  state text not null,
  epoch text default '' not null,
  only_row boolean default true not null,
  constraint second_database_only_row_check check (only_row),
  constraint second_database_state_check check ((state = any (array['off', 'copying', 'on', 'second'])))
);
alter table second_database add constraint second_database_pkey primary key (only_row);

create unlogged table row_images (
  xid xid8 default pg_current_xact_id() not null,
  "position" bigint not null,
  table_name text not null,
  removed jsonb not null,
  written jsonb not null
);
create index row_images_xid on row_images (xid);
create constraint trigger require_decision after insert on row_images deferrable initially deferred for each row execute function require_commit_decision();
alter table row_images alter column "position" add generated always as identity (sequence name row_images_position_seq start with 1 increment by 1 no minvalue no maxvalue cache 1);

create table commit_decisions (
  xid xid8 not null
);
alter table commit_decisions add constraint commit_decisions_pkey primary key (xid);

create table automatic_certificates (
  authority text not null,
  name text not null,
  account text,
  private_key text,
  certificate text,
  key_authorization text,
  held_by text,
  held_until timestamptz,
  failed_attempts integer default 0 not null,
  last_failure text,
  next_attempt_at timestamptz,
  constraint automatic_certificates_check check (((certificate is null) = (private_key is null)))
);
alter table automatic_certificates add constraint automatic_certificates_pkey primary key (authority, name);
grant select,insert,update on table automatic_certificates to core_system;

import { Migration } from '@mikro-orm/migrations';
import { changedFunction, undone, type Changes } from './changed-function.ts';

const providers = `('bucketstore', 'edgestore', 'cloudstore', 'disk', 'database')`;

const tables = [
  // The bytes of an object are written once. `state`: receiving, until they are durable; ready, until a record owns them; owned;
  // released, which can be undone until they are removed; removing.
  `create table stored_objects (
    id text primary key,
    -- Of the record that owns it; null for an owner of no single organization, and before an owner.
    organization_id text references organizations (id),
    provider text not null check (provider in ${providers}),
    bucket text not null,
    region text not null default '',
    key text not null,
    state text not null check (state in ('receiving', 'ready', 'owned', 'released', 'removing')),
    name text not null,
    content_type text,
    size_bytes bigint,
    sha256 bytea,
    -- What the provider calls these bytes: an ETag or a generation.
    version text,
    owner_kind text,
    owner_id text,
    owner_field text,
    verdict text check (verdict in ('clean', 'infected')),
    created_at timestamptz not null,
    owned_at timestamptz,
    released_at timestamptz,
    -- When its backup is to be written; null once there is a verified one.
    copy_due_at timestamptz,
    unique (provider, bucket, key),
    check (state in ('receiving', 'removing') or num_nulls(content_type, size_bytes, sha256, version) = 0),
    check (state <> 'owned' or num_nulls(owner_kind, owner_id, owner_field, owned_at) = 0)
  )`,
  // A field of a record owns one object.
  `create unique index stored_objects_owner on stored_objects (owner_id, owner_field, owner_kind) where state = 'owned'`,
  `create index stored_objects_copy_due on stored_objects (copy_due_at, id) where copy_due_at is not null and state = 'owned'`,
  `create index stored_objects_released on stored_objects (released_at) where state in ('released', 'removing')`,
  'create index stored_objects_organization on stored_objects (organization_id)',

  // `state`: receiving, while bytes come in; arrived, until they are checked; ready, until a record takes them; refused; used.
  `create table uploads (
    id text primary key,
    object_id text not null references stored_objects,
    route text not null check (route in ('multipart', 'direct', 'resumable')),
    -- Who uploads, as in the history (actorOf), and in which organization: nobody else can name the upload.
    actor text not null,
    organization_id text,
    -- The field that the file is meant for, as kind and field; null: not known yet.
    purpose text,
    state text not null check (state in ('receiving', 'arrived', 'ready', 'refused', 'used')),
    -- What the client states about the file: name, type, size, sha256.
    declared jsonb not null,
    -- Why it was refused: code, message.
    problem jsonb,
    -- What the provider needs in order to continue an upload in parts.
    parts_ref jsonb,
    received bigint not null default 0,
    tail_bytes int not null default 0,
    -- The request that writes now, and until when nobody else may.
    writer text,
    writer_until timestamptz,
    check_due_at timestamptz,
    created_at timestamptz not null,
    expires_at timestamptz not null
  )`,
  'create index uploads_object on uploads (object_id)',
  'create index uploads_expires on uploads (expires_at)',
  `create index uploads_check_due on uploads (check_due_at) where state = 'arrived'`,
  `create table upload_parts (
    upload_id text not null references uploads on delete cascade,
    number int not null check (number > 0),
    size bigint not null,
    tag text not null,
    primary key (upload_id, number)
  )`,

  `create table object_copies (
    object_id text primary key references stored_objects,
    provider text not null check (provider in ${providers}),
    bucket text not null,
    region text not null default '',
    key text not null,
    version text,
    state text not null check (state in ('copying', 'verified', 'failed')),
    parts_ref jsonb,
    copied_bytes bigint not null default 0,
    attempts int not null default 0,
    problem text,
    verified_at timestamptz,
    checked_at timestamptz,
    changed_at timestamptz not null,
    check (state <> 'verified' or num_nulls(version, verified_at, checked_at) = 0)
  )`,
  `create index object_copies_checked on object_copies (checked_at) where state = 'verified'`,
  `create index object_copies_failed on object_copies (changed_at) where state = 'failed'`,

  // The provider `database`. An object whose chunks are still being written has no `finished_at`.
  `create table object_blobs (
    namespace text not null,
    key text not null,
    size_bytes bigint,
    version text,
    finished_at timestamptz,
    primary key (namespace, key)
  )`,
  `create table object_chunks (
    namespace text not null,
    key text not null,
    number int not null,
    content bytea not null,
    primary key (namespace, key, number)
  )`,
  // Contents that are compressed already are not compressed again, and parts of a chunk can be read alone.
  'alter table object_chunks alter column content set storage external',

  `create table used_links (
    nonce bytea primary key,
    expires_at timestamptz not null
  )`,
  'create index used_links_expires on used_links (expires_at)',
];

const tableNames = [
  'used_links',
  'object_chunks',
  'object_blobs',
  'object_copies',
  'upload_parts',
  'uploads',
  'stored_objects',
];

const privileges = [
  // Privileges that new tables get by default are for records.
  `revoke all on ${tableNames.join(', ')} from core_app, core_system`,
  `grant select, insert, update, delete on ${tableNames.join(', ')} to core_system`,
  // Answers show name, type, size and hash of the objects of records that the caller can view.
  'grant select on stored_objects to core_app',
  'alter table stored_objects enable row level security',
  // The object of a record of no single organization is as visible as the record: the subquery is subject to its policy.
  `create policy stored_objects_app on stored_objects for select to core_app using (state = 'owned'
    and (organization_id = current_setting('core.organization_id', true)
      or (organization_id is null and owner_kind = 'user' and exists (select 1 from users u where u.id = owner_id))))`,
  `create policy stored_objects_system on stored_objects to core_system
    using (coalesce(current_setting('core.organization_id', true), '') = '' or organization_id = current_setting('core.organization_id', true))
    with check (coalesce(current_setting('core.organization_id', true), '') = '' or organization_id = current_setting('core.organization_id', true))`,
];

/**
 * Each is one statement of its caller and runs outside a transaction, except `claim_uploads` and `write_records`. An upload of somebody
 * else, or one that has expired, is answered as one that does not exist.
 */
const functions: Readonly<Record<string, string>> = {
  'begin_upload(jsonb)': `create function begin_upload(doc jsonb) returns void
    language plpgsql security definer set search_path = public, pg_temp as $$
  begin
    insert into stored_objects (id, provider, bucket, region, key, state, name, created_at)
      values (doc ->> 'object_id', doc ->> 'provider', doc ->> 'bucket', doc ->> 'region', doc ->> 'key', 'receiving', doc ->> 'name',
        (doc ->> 'at')::timestamptz);
    insert into uploads (id, object_id, route, actor, organization_id, purpose, state, declared, parts_ref, created_at, expires_at)
      values (doc ->> 'id', doc ->> 'object_id', doc ->> 'route', doc ->> 'actor', doc ->> 'organization_id', doc ->> 'purpose', 'receiving',
        doc -> 'declared', nullif(doc -> 'parts_ref', 'null'), (doc ->> 'at')::timestamptz, (doc ->> 'expires_at')::timestamptz);
  end $$`,
  // The state after it, or null for an upload that is gone. Repeating it changes nothing.
  'finish_upload(jsonb)': `create function finish_upload(doc jsonb) returns text
    language plpgsql security definer set search_path = public, pg_temp as $$
  declare held uploads%rowtype;
  begin
    select * into held from uploads u where u.id = doc ->> 'id' for update;
    if held.state in ('receiving', 'arrived') and held.expires_at > (doc ->> 'at')::timestamptz then
      update stored_objects set state = 'ready', content_type = doc ->> 'content_type', size_bytes = (doc ->> 'size_bytes')::bigint,
        sha256 = decode(doc ->> 'sha256', 'hex'), version = doc ->> 'version', name = coalesce(doc ->> 'name', name)
        where id = held.object_id and state = 'receiving';
      if not found then return null; end if;
      update uploads set state = 'ready', received = (doc ->> 'size_bytes')::bigint, check_due_at = null, writer = null, writer_until = null
        where id = held.id;
      return 'ready';
    end if;
    return held.state;
  end $$`,
  // Its bytes are removed with the next sweep. An upload that a record has taken stays.
  'refuse_upload(jsonb)': `create function refuse_upload(doc jsonb) returns boolean
    language plpgsql security definer set search_path = public, pg_temp as $$
  declare held uploads%rowtype;
  begin
    select * into held from uploads u where u.id = doc ->> 'id' for update;
    if held.id is null or held.state in ('used', 'refused') then return false; end if;
    update uploads set state = 'refused', problem = doc -> 'problem', check_due_at = null, writer = null, writer_until = null
      where id = held.id;
    update stored_objects set state = 'removing', released_at = (doc ->> 'at')::timestamptz
      where id = held.object_id and state in ('receiving', 'ready');
    return true;
  end $$`,
  'find_upload(jsonb)': `create function find_upload(doc jsonb) returns jsonb
    language plpgsql stable security definer set search_path = public, pg_temp as $$
  declare found_upload jsonb;
  begin
    select jsonb_build_object('id', u.id, 'object_id', u.object_id, 'route', u.route, 'purpose', u.purpose, 'state', u.state,
        'declared', u.declared, 'problem', u.problem, 'parts_ref', u.parts_ref, 'received', u.received, 'tail_bytes', u.tail_bytes,
        'created_at', u.created_at, 'expires_at', u.expires_at, 'provider', o.provider, 'bucket', o.bucket, 'region', o.region, 'key', o.key,
        'name', o.name, 'content_type', o.content_type, 'size_bytes', o.size_bytes, 'sha256', encode(o.sha256, 'hex'),
        'parts', (select coalesce(jsonb_agg(jsonb_build_object('number', p.number, 'size', p.size, 'tag', p.tag) order by p.number), '[]')
          from upload_parts p where p.upload_id = u.id)) into found_upload
      from uploads u join stored_objects o on o.id = u.object_id
      where u.id = doc ->> 'id' and u.actor = doc ->> 'actor' and u.organization_id is not distinct from doc ->> 'organization_id'
        and u.state <> 'used' and u.expires_at > (doc ->> 'at')::timestamptz;
    return found_upload;
  end $$`,
  // Whether the writer may write now: nobody else does. The same writer renews its time with it.
  'take_writer(jsonb)': `create function take_writer(doc jsonb) returns boolean
    language plpgsql security definer set search_path = public, pg_temp as $$
  begin
    update uploads set writer = doc ->> 'writer', writer_until = (doc ->> 'until')::timestamptz
      where id = doc ->> 'id' and actor = doc ->> 'actor' and organization_id is not distinct from doc ->> 'organization_id'
        and state = 'receiving' and expires_at > (doc ->> 'at')::timestamptz
        and (writer is null or writer = doc ->> 'writer' or writer_until <= (doc ->> 'at')::timestamptz);
    return found;
  end $$`,
  // What a writer has stored. False when it is no longer the writer; nothing is changed then. Without `until` it leaves.
  'save_parts(jsonb)': `create function save_parts(doc jsonb) returns boolean
    language plpgsql security definer set search_path = public, pg_temp as $$
  begin
    update uploads set received = (doc ->> 'received')::bigint, tail_bytes = (doc ->> 'tail_bytes')::int,
      parts_ref = coalesce(nullif(doc -> 'parts_ref', 'null'), parts_ref),
      writer = case when doc ->> 'until' is not null then writer end, writer_until = (doc ->> 'until')::timestamptz
      where id = doc ->> 'id' and state = 'receiving' and writer = doc ->> 'writer';
    if not found then return false; end if;
    insert into upload_parts as held (upload_id, number, size, tag)
      select doc ->> 'id', p.number, p.size, p.tag from jsonb_to_recordset(doc -> 'parts') as p (number int, size bigint, tag text)
      on conflict (upload_id, number) do update set size = excluded.size, tag = excluded.tag;
    return true;
  end $$`,
  // All bytes are there; they are checked next. The state after it, or null.
  'arrive_upload(jsonb)': `create function arrive_upload(doc jsonb) returns text
    language plpgsql security definer set search_path = public, pg_temp as $$
  declare state_after text;
  begin
    update uploads u set state = case when u.state = 'receiving' then 'arrived' else u.state end,
      check_due_at = case when u.state = 'receiving' then (doc ->> 'at')::timestamptz else u.check_due_at end,
      writer = null, writer_until = null
      where u.id = doc ->> 'id' and u.actor = doc ->> 'actor' and u.organization_id is not distinct from doc ->> 'organization_id'
        and u.state <> 'used' and u.expires_at > (doc ->> 'at')::timestamptz
      returning u.state into state_after;
    return state_after;
  end $$`,
  // Locks the uploads until the end of the transaction: of two requests that attach the same one, the second finds none.
  'claim_uploads(jsonb)': `create function claim_uploads(doc jsonb)
    returns table (upload_id text, state text, object_id text, name text, content_type text, size_bytes bigint, problem jsonb)
    language plpgsql security definer set search_path = public, pg_temp as $$
  #variable_conflict use_column
  begin
    return query with locked as (
      select u.* from uploads u
      where u.id in (select jsonb_array_elements_text(doc -> 'ids')) and u.actor = doc ->> 'actor'
        and u.organization_id is not distinct from doc ->> 'organization_id'
        and u.state <> 'used' and u.expires_at > (doc ->> 'at')::timestamptz
      order by u.id for update
    ) select l.id, l.state, l.object_id, o.name, o.content_type, o.size_bytes, l.problem
      from locked l join stored_objects o on o.id = l.object_id;
  end $$`,
  // An object that a record owns, with its verified copy. Whether the caller may have it is for the owner's rules to say.
  'object_for_download(text)': `create function object_for_download(wanted text) returns jsonb
    language plpgsql stable security definer set search_path = public, pg_temp as $$
  begin
    return (select jsonb_build_object('id', o.id, 'organization_id', o.organization_id, 'provider', o.provider, 'bucket', o.bucket,
        'region', o.region, 'key', o.key, 'name', o.name, 'content_type', o.content_type, 'size_bytes', o.size_bytes,
        'sha256', encode(o.sha256, 'hex'), 'version', o.version, 'owner_kind', o.owner_kind, 'owner_id', o.owner_id,
        'owner_field', o.owner_field, 'verdict', o.verdict,
        'copy', (select jsonb_build_object('provider', c.provider, 'bucket', c.bucket, 'region', c.region, 'key', c.key, 'version', c.version)
          from object_copies c where c.object_id = o.id and c.state = 'verified'))
      from stored_objects o where o.id = wanted and o.state = 'owned');
  end $$`,
  // True for the first use of a link.
  'use_link(bytea, timestamptz)': `create function use_link(used bytea, until timestamptz) returns boolean
    language plpgsql security definer set search_path = public, pg_temp as $$
  begin
    insert into used_links (nonce, expires_at) values (used, until) on conflict do nothing;
    return found;
  end $$`,
};

/** Which objects are released, then which are owned: a field that gets another file releases its former one. */
const ownership = `
    if doc ? 'objects' then
      perform 1 from stored_objects s where s.id in (select o ->> 'object' from jsonb_array_elements(doc -> 'objects') as o) order by s.id for update;
      update stored_objects s set state = 'released', released_at = o.at, copy_due_at = null
        from jsonb_to_recordset(doc -> 'objects') as o (object text, kind text, id text, field text, owned boolean, at timestamptz)
        where not o.owned and s.id = o.object and s.state = 'owned' and (s.owner_kind, s.owner_id, s.owner_field) = (o.kind, o.id, o.field);
      update stored_objects s set state = 'owned', owner_kind = o.kind, owner_id = o.id, owner_field = o.field, owned_at = o.at,
        released_at = null, organization_id = o.organization, copy_due_at = o.at
        from jsonb_to_recordset(doc -> 'objects') as o (object text, kind text, id text, field text, organization text, owned boolean, at timestamptz)
        where o.owned and s.id = o.object and (s.state = 'ready'
          or (s.state = 'released' and (s.owner_kind, s.owner_id, s.owner_field) = (o.kind, o.id, o.field)));
      get diagnostics owned = row_count;
      if owned <> (select count(*) from jsonb_array_elements(doc -> 'objects') as o where (o ->> 'owned')::boolean) then
        raise exception 'The content of a file is no longer there; upload it again.' using errcode = 'CR410';
      end if;
      update uploads u set state = 'used' where u.state = 'ready'
        and u.object_id in (select o ->> 'object' from jsonb_array_elements(doc -> 'objects') as o where (o ->> 'owned')::boolean);
    end if;`;

const writeRecords: Changes = [
  ['declare gone text;', 'declare gone text; owned int;'],
  [
    'raises = excluded.raises or (held.raises and held.applied_version < held.version);',
    `raises = excluded.raises or (held.raises and held.applied_version < held.version);${ownership}`,
  ],
];

/** Files have bytes: rows of uploads, of stored objects and their owners, and of their copies. */
export class Migration20261122232500StoredObjects extends Migration {
  override up(): void {
    for (const statement of [...tables, ...privileges]) this.addSql(statement);
    for (const [signature, statement] of Object.entries(functions)) {
      this.addSql(statement);
      this.addSql(`revoke all on function ${signature} from public`);
      this.addSql(`grant execute on function ${signature} to core_app, core_system`);
    }
    this.addSql(changedFunction('write_records(jsonb)', writeRecords));
  }

  override down(): void {
    this.addSql(changedFunction('write_records(jsonb)', undone(writeRecords)));
    for (const signature of Object.keys(functions)) this.addSql(`drop function ${signature}`);
    for (const table of tableNames) this.addSql(`drop table ${table}`);
  }
}

-- Records history, events, tuples, messages and feed rows of a set of changes, for recordChanges and createOnce.
-- doc: that of write_records, which runs first and whose errors apply (CR404, CR409, CR410), and optionally `feed` and
-- `public_kinds`. prepareRecords (entities/kit/write/change-log.ts) makes it; its types are Entries and FeedRow.
-- feed: rows for record_changes, {id (of the history entry), entity_kind, entity_id, organization_id, viewer_id,
-- operation, record_version}. changed_at and xid come from defaults: readers find changes by xid and snapshot
-- (record-changes.ts).
-- public_kinds: kinds of these events that endpoints can receive. Each such event becomes one message for each endpoint
-- of the organizations that it concerns (organization_id, concerns, and those of which concerns_member is a member) if
-- endpoint_wants says so. An enabled endpoint has it due at once; another one has it `kept`, without due_at. The
-- message has the organization of its endpoint, not that of the event.
-- Returns the number of pending events and messages. It must run in the transaction of the changed rows: all of it is committed, or none.
-- Security definer: core_app can add rows through it only; it has no rights to record_changes and webhook_messages.
create or replace function write_changes(doc jsonb)
returns integer
language plpgsql
security definer
set search_path to 'public', 'pg_temp'
as $$
declare due int; messages int := 0;
begin
  due := write_records(doc);
  if doc ? 'feed' then
    insert into record_changes (id, entity_kind, entity_id, organization_id, viewer_id, operation, record_version)
    select c.id, c.entity_kind, c.entity_id, c.organization_id, c.viewer_id, c.operation, c.record_version
    from jsonb_to_recordset(doc -> 'feed') as c (id text, entity_kind text, entity_id text, organization_id text,
      viewer_id text, operation text, record_version int);
  end if;
  if doc ? 'public_kinds' then
    insert into webhook_messages (endpoint_id, event_id, organization_id, topic, entity_kind, entity_id, record_version, request_id,
      occurred_at, payload, state, due_at, updated_at, actor)
    select w.id, e.id, w.organization_id, e.topic, e.entity_kind, e.entity_id, e.record_version, e.request_id,
      e.at, e.payload, case w.status when 'enabled' then 'due' else 'kept' end,
      case w.status when 'enabled' then e.at end, e.at, e.actor
    from jsonb_to_recordset(doc -> 'events') as e (id text, at timestamptz, topic text, entity_kind text, entity_id text,
        record_version int, organization_id text, request_id text, payload jsonb, actor text, concerns text[], concerns_member text)
      cross join lateral (
        select e.organization_id as id union select unnest(e.concerns)
        union select m.organization_id from memberships m where m.user_id = e.concerns_member and m.deleted_at is null
      ) as concerned
      join webhook_endpoints w on w.organization_id = concerned.id and w.deleted_at is null
    where doc -> 'public_kinds' ? e.entity_kind
      and endpoint_wants(w.topics, w.scopes, e.topic, e.entity_kind);
    get diagnostics messages = row_count;
  end if;
  return due + messages;
end
$$;
revoke all on function write_changes(jsonb) from public;
grant execute on function write_changes(jsonb) to core_app, core_system;

-- Records history, events, tuples, owners of files and verdicts of changes, for write_changes and tuple-repair.ts.
-- doc, all keys optional (Entries in entities/kit/write/change-log.ts): created [{id, kind, organization_id}] for
-- record_kinds; created_in and changed_in [organization ids]; history, events, tuples, objects, verdicts [rows].
-- CR404: an organization in created_in is deleted. The foreign keys of rows created before have locked it against
-- deletion, so the check stays true. CR409: one in changed_in is archived; it is not locked. database-error.ts
-- translates all codes.
-- events: those with on_demand are pending if a published version of their organization wants the topic, or if they
-- report the deletion of a record about which a workflow instance is open. Returns the number of pending events.
-- tuples: upserted in the order of their key against deadlocks. version + 1 makes them due; raises stays until it is
-- applied.
-- objects {object, kind, id, field, organization, owned, actor, at}: locked by id. Released are those of exactly this
-- field; then owned are ready uploads of the actor, or what the same field released (an undone deletion). CR410 when
-- one cannot be owned. Uploads become `used`: claim_uploads must have locked them before.
-- verdicts {id, object, organization, verdict, at}: objects are locked by id. The worst one of doc is written (max of
-- the text: `infected` > `clean`; names must keep this order), but a better one replaces a worse one only when it is
-- later than all other verdicts on the object. CR410 when the organization no longer owns one of the objects.
-- Security definer: core_app may write none of these tables.
create or replace function write_records(doc jsonb)
returns integer
language plpgsql
security definer
set search_path to 'public', 'pg_temp'
as $$
declare gone text; owned int; due int;
    begin
      if doc -> 'created_in' <> '[]' then select o.id into gone from organizations o
      where o.id in (select jsonb_array_elements_text(doc -> 'created_in')) and o.deleted_at is not null limit 1;
      if gone is not null then
        raise exception 'There is no Organization "%".', gone using errcode = 'CR404';
      end if; end if;
if doc ? 'changed_in' then
  select o.id into gone from organizations o
    where o.id in (select jsonb_array_elements_text(doc -> 'changed_in')) and o.is_archived limit 1;
  if gone is not null then
    raise exception 'The organization is archived, so nothing in it can be changed. Its managers can take that back (isArchived).' using errcode = 'CR409';
  end if;
end if;
insert into record_kinds (id, kind, organization_id)
select c.id, c.kind, c.organization_id
from jsonb_to_recordset(doc -> 'created') as c (id text, kind text, organization_id text);
insert into history (id, recorded_at, entity_kind, entity_id, organization_id, operation, record_version, changed_fields,
  snapshot, actor, request_id)
select h.id, h.at, h.entity_kind, h.entity_id, h.organization_id, h.operation, h.record_version, h.changed_fields,
  h.snapshot, h.actor, h.request_id
from jsonb_to_recordset(doc -> 'history') as h (id text, at timestamptz, entity_kind text, entity_id text,
  organization_id text, operation text, record_version int, changed_fields text[], snapshot jsonb, actor text,
  request_id text);
with recorded as (insert into events (id, occurred_at, topic, entity_kind, entity_id, record_version, organization_id, actor, request_id,
  traceparent, request_method, request_route, request_status, payload, pending)
select e.id, e.at, e.topic, e.entity_kind, e.entity_id, e.record_version, e.organization_id, e.actor, e.request_id,
  e.traceparent, e.method, e.route, e.status, e.payload, e.pending or (e.on_demand is true and (exists (
    select 1 from workflow_versions v where v.organization_id = e.organization_id and v.ended_at is null and v.deleted_at is null
      and e.topic = any(v.topics)) or (e.topic like '%.deleted' and exists (
    select 1 from workflow_instances i where i.organization_id = e.organization_id and i.subject_id = e.entity_id
      and i.ended_at is null and i.deleted_at is null))))
from jsonb_to_recordset(doc -> 'events') as e (id text, at timestamptz, topic text, entity_kind text, entity_id text,
  record_version int, organization_id text, actor text, request_id text, traceparent text, payload jsonb,
  pending boolean, on_demand boolean, method text, route text, status int)
  returning pending) select count(*) filter (where pending) into due from recorded;
if doc -> 'tuples' <> '[]' then insert into desired_tuples as held (object, relation, subject, organization_id, present, raises)
select t.object, t.relation, t.subject, t.organization_id, t.present, t.raises
from jsonb_to_recordset(doc -> 'tuples') as t (object text, relation text, subject text, organization_id text,
  present boolean, raises boolean)
order by t.object, t.relation, t.subject
on conflict (object, relation, subject) do update
  set present = excluded.present, version = held.version + 1, organization_id = excluded.organization_id,
    raises = excluded.raises or (held.raises and held.applied_version < held.version); end if;
if doc ? 'objects' then
  perform 1 from stored_objects s where s.id in (select o ->> 'object' from jsonb_array_elements(doc -> 'objects') as o) order by s.id for update;
  update stored_objects s set state = 'released', released_at = o.at, copy_due_at = null
    from jsonb_to_recordset(doc -> 'objects') as o (object text, kind text, id text, field text, owned boolean, at timestamptz)
    where not o.owned and s.id = o.object and s.state = 'owned' and (s.owner_kind, s.owner_id, s.owner_field) = (o.kind, o.id, o.field);
  update stored_objects s set state = 'owned', owner_kind = o.kind, owner_id = o.id, owner_field = o.field, owned_at = o.at,
    released_at = null, organization_id = o.organization, copy_due_at = o.at
    from jsonb_to_recordset(doc -> 'objects') as o (object text, kind text, id text, field text, organization text, owned boolean, actor text, at timestamptz)
    where o.owned and s.id = o.object and ((s.state = 'ready'
        and exists (select 1 from uploads u where u.object_id = s.id and u.state = 'ready' and u.actor = o.actor))
      or (s.state = 'released' and (s.owner_kind, s.owner_id, s.owner_field) = (o.kind, o.id, o.field)));
  get diagnostics owned = row_count;
  if owned <> (select count(*) from jsonb_array_elements(doc -> 'objects') as o where (o ->> 'owned')::boolean) then
    raise exception 'The content of a file is no longer there; upload it again.' using errcode = 'CR410';
  end if;
  update uploads u set state = 'used' where u.state = 'ready'
    and u.object_id in (select o ->> 'object' from jsonb_array_elements(doc -> 'objects') as o where (o ->> 'owned')::boolean);
end if;
if doc ? 'verdicts' then
  perform 1 from stored_objects s where s.id in (select v ->> 'object' from jsonb_array_elements(doc -> 'verdicts') as v) order by s.id for update;
  update stored_objects s set verdict = case when s.verdict > v.verdict and v.last <= (select max(f.created_at) from file_verdicts f
      where f.organization_id = v.organization and f.object_id = v.object and f.id <> all(v.ids)) then s.verdict else v.verdict end
    from (select object, organization, max(verdict) as verdict, max("at") as last, array_agg(id) as ids
      from jsonb_to_recordset(doc -> 'verdicts') as given (id text, object text, organization text, verdict text, "at" timestamptz) group by object, organization) as v
    where s.id = v.object and s.state = 'owned' and s.organization_id = v.organization;
  get diagnostics owned = row_count;
  if owned <> (select count(distinct v ->> 'object') from jsonb_array_elements(doc -> 'verdicts') as v) then
    raise exception 'The record has another file by now; the verdict is on none that is in use.' using errcode = 'CR410';
  end if;
end if;
  return due;
end
$$;
revoke all on function write_records(jsonb) from public;
grant execute on function write_records(jsonb) to core_app, core_system;

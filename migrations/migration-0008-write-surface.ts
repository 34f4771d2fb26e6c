import { Migration } from '@mikro-orm/migrations';

/** Nothing is created in an organization that is deleted at the same time. */
export class Migration0008WriteSurface extends Migration {
  override up(): void {
    // The foreign key of the created rows has locked the organization against its deletion, or waited for it to end: what
    // is read here stays so.
    this.addSql(
      writeRecords(
        'plpgsql',
        `declare gone text;
        begin
          select o.id into gone from organizations o
          where o.id in (select jsonb_array_elements_text(doc -> 'created_in')) and o.deleted_at is not null limit 1;
          if gone is not null then
            raise exception 'There is no Organization "%".', gone using errcode = 'CR404';
          end if;`,
        'end',
      ),
    );
  }

  override down(): void {
    this.addSql(writeRecords('sql', '', ''));
  }
}

function writeRecords(language: string, before: string, after: string): string {
  return `create or replace function write_records(doc jsonb) returns void language ${language}
    security definer set search_path = public, pg_temp as $$
    ${before}
    insert into history (id, recorded_at, entity_kind, entity_id, organization_id, operation, record_version, changed_fields,
      snapshot, actor, request_id)
    select h.id, h.at, h.entity_kind, h.entity_id, h.organization_id, h.operation, h.record_version, h.changed_fields,
      h.snapshot, h.actor, h.request_id
    from jsonb_to_recordset(doc -> 'history') as h (id text, at timestamptz, entity_kind text, entity_id text,
      organization_id text, operation text, record_version int, changed_fields text[], snapshot jsonb, actor text,
      request_id text);
    insert into events (id, occurred_at, topic, entity_kind, entity_id, record_version, organization_id, actor, request_id,
      traceparent, payload, pending)
    select e.id, e.at, e.topic, e.entity_kind, e.entity_id, e.record_version, e.organization_id, e.actor, e.request_id,
      e.traceparent, e.payload, e.pending
    from jsonb_to_recordset(doc -> 'events') as e (id text, at timestamptz, topic text, entity_kind text, entity_id text,
      record_version int, organization_id text, actor text, request_id text, traceparent text, payload jsonb,
      pending boolean);
    insert into desired_tuples as held (object, relation, subject, organization_id, present, raises)
    select t.object, t.relation, t.subject, t.organization_id, t.present, t.raises
    from jsonb_to_recordset(doc -> 'tuples') as t (object text, relation text, subject text, organization_id text,
      present boolean, raises boolean)
    order by t.object, t.relation, t.subject
    on conflict (object, relation, subject) do update
      set present = excluded.present, version = held.version + 1, organization_id = excluded.organization_id,
        raises = excluded.raises or (held.raises and held.applied_version < held.version);
    ${after}
  $$`;
}

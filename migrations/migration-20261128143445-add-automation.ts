import { Migration } from '@mikro-orm/migrations';

export class Migration20261128143445AddAutomation extends Migration {
  override up(): void | Promise<void> {
    this.addSql(
      `create table "workflow_definitions" ("id" text not null, "created_at" timestamptz not null, "updated_at" timestamptz not null, "created_by" text not null, "updated_by" text not null, "record_version" integer not null, "deleted_at" timestamptz null, "deleted_by" text null, "organization_id" text not null, "display_id" text not null, "name" text not null, "description" text null, "record_kind" text not null, "document" jsonb not null, "cooldown_seconds" integer not null, "status" text not null, "published_version" integer null, "published_at" timestamptz null, "creator_id" text null, primary key ("id"));`,
    );
    this.addSql(
      `comment on table "workflow_definitions" is 'Definition of a workflow: which changes start it, and what then happens. Publishing makes a version of it, which is in force until the next one.';`,
    );
    this.addSql(
      `comment on column "workflow_definitions"."display_id" is 'Human-readable identifier; unique within the organization and immutable.';`,
    );
    this.addSql(`comment on column "workflow_definitions"."name" is 'Name in one line.';`);
    this.addSql(`comment on column "workflow_definitions"."description" is 'Purpose of the workflow, in some lines.';`);
    this.addSql(`comment on column "workflow_definitions"."record_kind" is 'Kind of the records, such as \`task\`.';`);
    this.addSql(
      `comment on column "workflow_definitions"."document" is 'Triggers, conditions and actions of the draft: a JSON object (docs/workflows.md).';`,
    );
    this.addSql(
      `comment on column "workflow_definitions"."cooldown_seconds" is 'Time after a start in which the definition starts no other instance for the same record, in seconds.';`,
    );
    this.addSql(
      `comment on column "workflow_definitions"."status" is 'Whether a version of it is in force: published. A retired one starts nothing any more.';`,
    );
    this.addSql(
      `comment on column "workflow_definitions"."published_version" is 'Number of the newest version; null before the first one.';`,
    );
    this.addSql(`comment on column "workflow_definitions"."published_at" is 'When that version was published.';`);
    this.addSql(`comment on column "workflow_definitions"."creator_id" is 'Person who made it.';`);
    this.addSql(
      `create index "workflow_definitions_organization_id_id_index" on "workflow_definitions" ("organization_id", "id") where deleted_at is null;`,
    );
    this.addSql(
      `create index "workflow_definitions_organization_id_name_order" on "workflow_definitions" (organization_id, name collate record_order, id) where deleted_at is null;`,
    );
    this.addSql(
      `create index "workflow_definitions_organization_id_record_kind_id_index" on "workflow_definitions" ("organization_id", "record_kind", "id") where deleted_at is null;`,
    );
    this.addSql(
      `create index "workflow_definitions_organization_id_status_id_index" on "workflow_definitions" ("organization_id", "status", "id") where deleted_at is null;`,
    );
    this.addSql(
      `create index "workflow_definitions_organization_id_creator_id_id_index" on "workflow_definitions" ("organization_id", "creator_id", "id") where deleted_at is null;`,
    );
    this.addSql(
      `create index "workflow_definitions_organization_id_published_at_id_index" on "workflow_definitions" ("organization_id", "published_at", "id") where deleted_at is null;`,
    );
    this.addSql(
      `create index "workflow_definitions_organization_id_created_at_id_index" on "workflow_definitions" ("organization_id", "created_at", "id") where deleted_at is null;`,
    );
    this.addSql(
      `create index "workflow_definitions_organization_id_updated_at_id_index" on "workflow_definitions" ("organization_id", "updated_at", "id") where deleted_at is null;`,
    );
    this.addSql(
      `create index "workflow_definitions_organization_id_published_at_descending" on "workflow_definitions" (organization_id, published_at desc nulls last, id desc) where deleted_at is null;`,
    );
    this.addSql(
      `create index "workflow_definitions_display_id_beginning" on "workflow_definitions" (organization_id, (left(matched_form(display_id), 100) collate "C")) where deleted_at is null;`,
    );
    this.addSql(
      `create index "workflow_definitions_name_beginning" on "workflow_definitions" (organization_id, (left(matched_form(name), 100) collate "C")) where deleted_at is null;`,
    );
    this.addSql(
      `create index "workflow_definitions_record_kind_beginning" on "workflow_definitions" (organization_id, (left(matched_form(record_kind), 100) collate "C")) where deleted_at is null;`,
    );
    this.addSql(
      `create index "workflow_definitions_creator_id_index" on "workflow_definitions" ("creator_id") where creator_id is not null;`,
    );
    this.addSql(
      `create index "workflow_definitions_search_index" on "workflow_definitions" using gin (organization_id, matched_form(coalesce(name, '') || ' ' || coalesce(description, '')) gin_trgm_ops, search_words(matched_form(coalesce(name, '') || ' ' || coalesce(description, '')))) where deleted_at is null;`,
    );
    this.addSql(
      `create unique index "workflow_definitions_organization_id_display_id_key" on "workflow_definitions" ("organization_id", "display_id") where deleted_at is null;`,
    );

    this.addSql(
      `create table "workflow_versions" ("id" text not null, "created_at" timestamptz not null, "updated_at" timestamptz not null, "created_by" text not null, "updated_by" text not null, "record_version" integer not null, "deleted_at" timestamptz null, "deleted_by" text null, "organization_id" text not null, "definition_id" text not null, "number" integer not null, "record_kind" text not null, "document" jsonb not null, "timing" text not null, "cooldown_seconds" integer not null, "topics" text[] not null, "gated_fields" text[] not null, "is_gate" boolean not null, "published_at" timestamptz not null, "ended_at" timestamptz null, "publisher_id" text null, primary key ("id"));`,
    );
    this.addSql(
      `comment on table "workflow_versions" is 'Published version of a workflow definition. It never changes; an event meets the version that was in force when it happened, and a workflow ends with the version with which it began.';`,
    );
    this.addSql(`comment on column "workflow_versions"."definition_id" is 'Definition of which it is a version.';`);
    this.addSql(`comment on column "workflow_versions"."number" is 'Number of the version, from 1.';`);
    this.addSql(`comment on column "workflow_versions"."record_kind" is 'Kind of the records, such as \`task\`.';`);
    this.addSql(
      `comment on column "workflow_versions"."document" is 'Triggers, conditions and actions: a JSON object.';`,
    );
    this.addSql(
      `comment on column "workflow_versions"."timing" is 'When approvals take place: pre_commit holds the change until it is approved; post_commit reviews a change that is written.';`,
    );
    this.addSql(
      `comment on column "workflow_versions"."cooldown_seconds" is 'Time between two instances for the same record at least, in seconds.';`,
    );
    this.addSql(
      `comment on column "workflow_versions"."topics" is 'Topics of the events that it wants: those of its triggers.';`,
    );
    this.addSql(
      `comment on column "workflow_versions"."gated_fields" is 'Fields whose changes it holds; empty for a version that holds none.';`,
    );
    this.addSql(
      `comment on column "workflow_versions"."is_gate" is 'Whether it holds changes or deletions until they are approved.';`,
    );
    this.addSql(`comment on column "workflow_versions"."published_at" is 'From when it is in force.';`);
    this.addSql(
      `comment on column "workflow_versions"."ended_at" is 'Until when it was in force: a newer version was published, or the definition retired.';`,
    );
    this.addSql(
      `comment on column "workflow_versions"."publisher_id" is 'Person who published it: its actions have the rights that this person has when they run.';`,
    );
    this.addSql(`create index "workflow_versions_definition_id_index" on "workflow_versions" ("definition_id");`);
    this.addSql(
      `create index "workflow_versions_organization_id_index" on "workflow_versions" ("organization_id") where deleted_at is null and ended_at is null;`,
    );
    this.addSql(
      `create index "workflow_versions_organization_id_id_index" on "workflow_versions" ("organization_id", "id") where deleted_at is null;`,
    );
    this.addSql(
      `create index "workflow_versions_organization_id_definition_id_id_index" on "workflow_versions" ("organization_id", "definition_id", "id") where deleted_at is null;`,
    );
    this.addSql(
      `create index "workflow_versions_organization_id_number_id_index" on "workflow_versions" ("organization_id", "number", "id") where deleted_at is null;`,
    );
    this.addSql(
      `create index "workflow_versions_organization_id_record_kind_id_index" on "workflow_versions" ("organization_id", "record_kind", "id") where deleted_at is null;`,
    );
    this.addSql(
      `create index "workflow_versions_organization_id_timing_id_index" on "workflow_versions" ("organization_id", "timing", "id") where deleted_at is null;`,
    );
    this.addSql(
      `create index "workflow_versions_organization_id_is_gate_id_index" on "workflow_versions" ("organization_id", "is_gate", "id") where deleted_at is null;`,
    );
    this.addSql(
      `create index "workflow_versions_organization_id_ended_at_id_index" on "workflow_versions" ("organization_id", "ended_at", "id") where deleted_at is null;`,
    );
    this.addSql(
      `create index "workflow_versions_organization_id_publisher_id_id_index" on "workflow_versions" ("organization_id", "publisher_id", "id") where deleted_at is null;`,
    );
    this.addSql(
      `create index "workflow_versions_organization_id_published_at_id_index" on "workflow_versions" ("organization_id", "published_at", "id") where deleted_at is null;`,
    );
    this.addSql(
      `create index "workflow_versions_organization_id_created_at_id_index" on "workflow_versions" ("organization_id", "created_at", "id") where deleted_at is null;`,
    );
    this.addSql(
      `create index "workflow_versions_organization_id_updated_at_id_index" on "workflow_versions" ("organization_id", "updated_at", "id") where deleted_at is null;`,
    );
    this.addSql(
      `create index "workflow_versions_record_kind_beginning" on "workflow_versions" (organization_id, (left(matched_form(record_kind), 100) collate "C")) where deleted_at is null;`,
    );
    this.addSql(
      `create index "workflow_versions_publisher_id_index" on "workflow_versions" ("publisher_id") where publisher_id is not null;`,
    );
    this.addSql(
      `create unique index "workflow_versions_definition_id_number_key" on "workflow_versions" ("definition_id", "number") where deleted_at is null;`,
    );

    this.addSql(
      `create table "workflow_instances" ("id" text not null, "created_at" timestamptz not null, "updated_at" timestamptz not null, "created_by" text not null, "updated_by" text not null, "record_version" integer not null, "deleted_at" timestamptz null, "deleted_by" text null, "organization_id" text not null, "definition_id" text not null, "version_id" text not null, "record_kind" text not null, "subject_id" text not null, "trigger" text not null, "proposal_id" text null, "status" text not null, "action_index" integer not null, "round" integer not null, "initiator_id" text null, "initiator_token_id" text null, "event_id" text null, "chain" jsonb null, "context" jsonb null, "waiting_until" timestamptz null, "ended_at" timestamptz null, "reason" text null, "open_key" text null, primary key ("id"));`,
    );
    this.addSql(`comment on table "workflow_instances" is 'One run of a workflow definition for one record.';`);
    this.addSql(`comment on column "workflow_instances"."definition_id" is 'Definition that runs.';`);
    this.addSql(`comment on column "workflow_instances"."version_id" is 'Version with which it runs.';`);
    this.addSql(`comment on column "workflow_instances"."record_kind" is 'Kind of the records, such as \`task\`.';`);
    this.addSql(`comment on column "workflow_instances"."subject_id" is 'Id of the record.';`);
    this.addSql(`comment on column "workflow_instances"."trigger" is 'Change that started it.';`);
    this.addSql(
      `comment on column "workflow_instances"."proposal_id" is 'Id of the proposal that it decides; null if the change was written.';`,
    );
    this.addSql(`comment on column "workflow_instances"."status" is 'Status.';`);
    this.addSql(`comment on column "workflow_instances"."action_index" is 'Number of the action that runs, from 0.';`);
    this.addSql(
      `comment on column "workflow_instances"."round" is 'Number of the round of approvals; each new submission begins one.';`,
    );
    this.addSql(
      `comment on column "workflow_instances"."initiator_id" is 'Person whose change started it; null for a program or the server.';`,
    );
    this.addSql(
      `comment on column "workflow_instances"."initiator_token_id" is 'Id of the token with which the change was made.';`,
    );
    this.addSql(`comment on column "workflow_instances"."event_id" is 'Id of the event that started it.';`);
    this.addSql(
      `comment on column "workflow_instances"."chain" is 'Ids of the definitions whose actions led to the change, the first one first.';`,
    );
    this.addSql(
      `comment on column "workflow_instances"."context" is 'The change: names and former values of the changed fields, and further facts for expressions.';`,
    );
    this.addSql(
      `comment on column "workflow_instances"."waiting_until" is 'When it acts next if nobody decides: a reminder or a deadline.';`,
    );
    this.addSql(`comment on column "workflow_instances"."ended_at" is 'When it ended.';`);
    this.addSql(
      `comment on column "workflow_instances"."reason" is 'Why it failed, waits or ended so, as text for people.';`,
    );
    this.addSql(
      `comment on column "workflow_instances"."open_key" is 'Ids of definition and record while it is open: a definition has one open instance for a record.';`,
    );
    this.addSql(`create index "workflow_instances_definition_id_index" on "workflow_instances" ("definition_id");`);
    this.addSql(`create index "workflow_instances_version_id_index" on "workflow_instances" ("version_id");`);
    this.addSql(
      `create index "workflow_instances_waiting_until_index" on "workflow_instances" ("waiting_until") where deleted_at is null and ended_at is null;`,
    );
    this.addSql(
      `create index "workflow_instances_organization_id_id_index" on "workflow_instances" ("organization_id", "id") where deleted_at is null;`,
    );
    this.addSql(
      `create index "workflow_instances_organization_id_definition_id_id_index" on "workflow_instances" ("organization_id", "definition_id", "id") where deleted_at is null;`,
    );
    this.addSql(
      `create index "workflow_instances_organization_id_version_id_id_index" on "workflow_instances" ("organization_id", "version_id", "id") where deleted_at is null;`,
    );
    this.addSql(
      `create index "workflow_instances_organization_id_record_kind_id_index" on "workflow_instances" ("organization_id", "record_kind", "id") where deleted_at is null;`,
    );
    this.addSql(
      `create index "workflow_instances_organization_id_subject_id_id_index" on "workflow_instances" ("organization_id", "subject_id", "id") where deleted_at is null;`,
    );
    this.addSql(
      `create index "workflow_instances_organization_id_trigger_id_index" on "workflow_instances" ("organization_id", "trigger", "id") where deleted_at is null;`,
    );
    this.addSql(
      `create index "workflow_instances_organization_id_proposal_id_id_index" on "workflow_instances" ("organization_id", "proposal_id", "id") where deleted_at is null;`,
    );
    this.addSql(
      `create index "workflow_instances_organization_id_status_id_index" on "workflow_instances" ("organization_id", "status", "id") where deleted_at is null;`,
    );
    this.addSql(
      `create index "workflow_instances_organization_id_initiator_id_id_index" on "workflow_instances" ("organization_id", "initiator_id", "id") where deleted_at is null;`,
    );
    this.addSql(
      `create index "workflow_instances_organization_id_ended_at_id_index" on "workflow_instances" ("organization_id", "ended_at", "id") where deleted_at is null;`,
    );
    this.addSql(
      `create index "workflow_instances_organization_id_waiting_until_id_index" on "workflow_instances" ("organization_id", "waiting_until", "id") where deleted_at is null;`,
    );
    this.addSql(
      `create index "workflow_instances_organization_id_created_at_id_index" on "workflow_instances" ("organization_id", "created_at", "id") where deleted_at is null;`,
    );
    this.addSql(
      `create index "workflow_instances_organization_id_updated_at_id_index" on "workflow_instances" ("organization_id", "updated_at", "id") where deleted_at is null;`,
    );
    this.addSql(
      `create index "workflow_instances_organization_id_waiting_until_descending" on "workflow_instances" (organization_id, waiting_until desc nulls last, id desc) where deleted_at is null;`,
    );
    this.addSql(
      `create index "workflow_instances_organization_id_ended_at_descending" on "workflow_instances" (organization_id, ended_at desc nulls last, id desc) where deleted_at is null;`,
    );
    this.addSql(
      `create index "workflow_instances_record_kind_beginning" on "workflow_instances" (organization_id, (left(matched_form(record_kind), 100) collate "C")) where deleted_at is null;`,
    );
    this.addSql(
      `create index "workflow_instances_subject_id_beginning" on "workflow_instances" (organization_id, (left(matched_form(subject_id), 100) collate "C")) where deleted_at is null;`,
    );
    this.addSql(
      `create index "workflow_instances_proposal_id_beginning" on "workflow_instances" (organization_id, (left(matched_form(proposal_id), 100) collate "C")) where deleted_at is null;`,
    );
    this.addSql(
      `create index "workflow_instances_initiator_id_index" on "workflow_instances" ("initiator_id") where initiator_id is not null;`,
    );
    this.addSql(
      `create unique index "workflow_instances_open_key_key" on "workflow_instances" ("open_key") where deleted_at is null;`,
    );

    this.addSql(
      `create table "workflow_events" ("id" text not null, "created_at" timestamptz not null, "updated_at" timestamptz not null, "created_by" text not null, "updated_by" text not null, "record_version" integer not null, "deleted_at" timestamptz null, "deleted_by" text null, "organization_id" text not null, "instance_id" text not null, "type" text not null, "action_key" text null, "person_id" text null, "details" jsonb null, primary key ("id"));`,
    );
    this.addSql(`comment on table "workflow_events" is 'Entry of the journal of a workflow: one step of it.';`);
    this.addSql(`comment on column "workflow_events"."instance_id" is 'Workflow of which it is a step.';`);
    this.addSql(`comment on column "workflow_events"."type" is 'Sort of the step.';`);
    this.addSql(`comment on column "workflow_events"."action_key" is 'Key of the action that it concerns.';`);
    this.addSql(`comment on column "workflow_events"."person_id" is 'Person who did it, or whom it concerns.';`);
    this.addSql(
      `comment on column "workflow_events"."details" is 'Further facts: numbers, codes, values of expressions.';`,
    );
    this.addSql(`create index "workflow_events_instance_id_index" on "workflow_events" ("instance_id");`);
    this.addSql(
      `create index "workflow_events_organization_id_id_index" on "workflow_events" ("organization_id", "id") where deleted_at is null;`,
    );
    this.addSql(
      `create index "workflow_events_organization_id_instance_id_id_index" on "workflow_events" ("organization_id", "instance_id", "id") where deleted_at is null;`,
    );
    this.addSql(
      `create index "workflow_events_organization_id_type_id_index" on "workflow_events" ("organization_id", "type", "id") where deleted_at is null;`,
    );
    this.addSql(
      `create index "workflow_events_organization_id_created_at_id_index" on "workflow_events" ("organization_id", "created_at", "id") where deleted_at is null;`,
    );
    this.addSql(
      `create index "workflow_events_organization_id_updated_at_id_index" on "workflow_events" ("organization_id", "updated_at", "id") where deleted_at is null;`,
    );
    this.addSql(
      `create index "workflow_events_person_id_index" on "workflow_events" ("person_id") where person_id is not null;`,
    );

    this.addSql(
      `create table "workflow_assignments" ("id" text not null, "created_at" timestamptz not null, "updated_at" timestamptz not null, "created_by" text not null, "updated_by" text not null, "record_version" integer not null, "deleted_at" timestamptz null, "deleted_by" text null, "organization_id" text not null, "instance_id" text not null, "action_key" text not null, "round" integer not null, "role" text not null, "label" text null, "user_id" text not null, "source" text not null, "is_required" boolean not null, "status" text not null, "proposal_hash" text null, "decided_at" timestamptz null, "note" text null, "is_void" boolean not null, "due_at" timestamptz null, "reminded_at" timestamptz null, "open_key" text null, primary key ("id"));`,
    );
    this.addSql(`comment on table "workflow_assignments" is 'One person who is asked to approve or review a change.';`);
    this.addSql(`comment on column "workflow_assignments"."instance_id" is 'Workflow that asks.';`);
    this.addSql(`comment on column "workflow_assignments"."action_key" is 'Key of the action that asks.';`);
    this.addSql(`comment on column "workflow_assignments"."round" is 'Round of approvals in which it was asked.';`);
    this.addSql(
      `comment on column "workflow_assignments"."role" is 'approver: the change waits for the decision. reviewer: it is written already.';`,
    );
    this.addSql(`comment on column "workflow_assignments"."label" is 'The question in one line.';`);
    this.addSql(`comment on column "workflow_assignments"."user_id" is 'Person who is asked.';`);
    this.addSql(`comment on column "workflow_assignments"."source" is 'Why this person is asked.';`);
    this.addSql(`comment on column "workflow_assignments"."is_required" is 'Whether a rejection ends the round.';`);
    this.addSql(`comment on column "workflow_assignments"."status" is 'Status.';`);
    this.addSql(
      `comment on column "workflow_assignments"."proposal_hash" is 'SHA-256 of the proposed values that the person is asked about, in hexadecimal.';`,
    );
    this.addSql(`comment on column "workflow_assignments"."decided_at" is 'When the person decided.';`);
    this.addSql(`comment on column "workflow_assignments"."note" is 'Reason that the person gave.';`);
    this.addSql(
      `comment on column "workflow_assignments"."is_void" is 'Whether the decision is void, because the person may not decide any more.';`,
    );
    this.addSql(`comment on column "workflow_assignments"."due_at" is 'When the decision is due.';`);
    this.addSql(`comment on column "workflow_assignments"."reminded_at" is 'When the person was reminded.';`);
    this.addSql(
      `comment on column "workflow_assignments"."open_key" is 'Ids of workflow, action and person while it is pending: a person is asked once at a time.';`,
    );
    this.addSql(`create index "workflow_assignments_instance_id_index" on "workflow_assignments" ("instance_id");`);
    this.addSql(`create index "workflow_assignments_user_id_index" on "workflow_assignments" ("user_id");`);
    this.addSql(
      `create index "workflow_assignments_organization_id_id_index" on "workflow_assignments" ("organization_id", "id") where deleted_at is null;`,
    );
    this.addSql(
      `create index "workflow_assignments_organization_id_instance_id_id_index" on "workflow_assignments" ("organization_id", "instance_id", "id") where deleted_at is null;`,
    );
    this.addSql(
      `create index "workflow_assignments_organization_id_action_key_id_index" on "workflow_assignments" ("organization_id", "action_key", "id") where deleted_at is null;`,
    );
    this.addSql(
      `create index "workflow_assignments_organization_id_role_id_index" on "workflow_assignments" ("organization_id", "role", "id") where deleted_at is null;`,
    );
    this.addSql(
      `create index "workflow_assignments_organization_id_user_id_id_index" on "workflow_assignments" ("organization_id", "user_id", "id") where deleted_at is null;`,
    );
    this.addSql(
      `create index "workflow_assignments_organization_id_status_id_index" on "workflow_assignments" ("organization_id", "status", "id") where deleted_at is null;`,
    );
    this.addSql(
      `create index "workflow_assignments_organization_id_due_at_id_index" on "workflow_assignments" ("organization_id", "due_at", "id") where deleted_at is null;`,
    );
    this.addSql(
      `create index "workflow_assignments_organization_id_decided_at_id_index" on "workflow_assignments" ("organization_id", "decided_at", "id") where deleted_at is null;`,
    );
    this.addSql(
      `create index "workflow_assignments_organization_id_created_at_id_index" on "workflow_assignments" ("organization_id", "created_at", "id") where deleted_at is null;`,
    );
    this.addSql(
      `create index "workflow_assignments_organization_id_updated_at_id_index" on "workflow_assignments" ("organization_id", "updated_at", "id") where deleted_at is null;`,
    );
    this.addSql(
      `create index "workflow_assignments_organization_id_decided_at_descending" on "workflow_assignments" (organization_id, decided_at desc nulls last, id desc) where deleted_at is null;`,
    );
    this.addSql(
      `create index "workflow_assignments_organization_id_due_at_descending" on "workflow_assignments" (organization_id, due_at desc nulls last, id desc) where deleted_at is null;`,
    );
    this.addSql(
      `create index "workflow_assignments_action_key_beginning" on "workflow_assignments" (organization_id, (left(matched_form(action_key), 100) collate "C")) where deleted_at is null;`,
    );
    this.addSql(
      `create unique index "workflow_assignments_open_key_key" on "workflow_assignments" ("open_key") where deleted_at is null;`,
    );

    this.addSql(
      `alter table "workflow_definitions" add constraint "workflow_definitions_organization_id_foreign" foreign key ("organization_id") references "organizations" ("id") on update no action on delete restrict;`,
    );
    this.addSql(
      `alter table "workflow_definitions" add constraint "workflow_definitions_creator_id_foreign" foreign key ("creator_id") references "users" ("id") on update no action on delete restrict;`,
    );
    this.addSql(
      `alter table "workflow_definitions" add constraint "workflow_definitions_status_check" check (status in ('draft', 'published', 'retired'));`,
    );
    this.addSql(`alter table "workflow_definitions" enable row level security;`);
    this.addSql(
      `create policy "workflow_definitions_app" on "workflow_definitions" to "core_app" using (organization_id = current_setting('core.organization_id', true)) with check (organization_id = current_setting('core.organization_id', true));`,
    );
    this.addSql(
      `create policy "workflow_definitions_system" on "workflow_definitions" to "core_system" using (coalesce(current_setting('core.organization_id', true), '') = '' or organization_id = current_setting('core.organization_id', true)) with check (coalesce(current_setting('core.organization_id', true), '') = '' or organization_id = current_setting('core.organization_id', true));`,
    );

    this.addSql(
      `alter table "workflow_versions" add constraint "workflow_versions_organization_id_foreign" foreign key ("organization_id") references "organizations" ("id") on update no action on delete restrict;`,
    );
    this.addSql(
      `alter table "workflow_versions" add constraint "workflow_versions_definition_id_foreign" foreign key ("definition_id") references "workflow_definitions" ("id") on update no action on delete restrict;`,
    );
    this.addSql(
      `alter table "workflow_versions" add constraint "workflow_versions_publisher_id_foreign" foreign key ("publisher_id") references "users" ("id") on update no action on delete restrict;`,
    );
    this.addSql(
      `alter table "workflow_versions" add constraint "workflow_versions_timing_check" check (timing in ('pre_commit', 'post_commit'));`,
    );
    this.addSql(`alter table "workflow_versions" enable row level security;`);
    this.addSql(
      `create policy "workflow_versions_app" on "workflow_versions" to "core_app" using (organization_id = current_setting('core.organization_id', true)) with check (organization_id = current_setting('core.organization_id', true));`,
    );
    this.addSql(
      `create policy "workflow_versions_system" on "workflow_versions" to "core_system" using (coalesce(current_setting('core.organization_id', true), '') = '' or organization_id = current_setting('core.organization_id', true)) with check (coalesce(current_setting('core.organization_id', true), '') = '' or organization_id = current_setting('core.organization_id', true));`,
    );

    this.addSql(
      `alter table "workflow_instances" add constraint "workflow_instances_organization_id_foreign" foreign key ("organization_id") references "organizations" ("id") on update no action on delete restrict;`,
    );
    this.addSql(
      `alter table "workflow_instances" add constraint "workflow_instances_definition_id_foreign" foreign key ("definition_id") references "workflow_definitions" ("id") on update no action on delete restrict;`,
    );
    this.addSql(
      `alter table "workflow_instances" add constraint "workflow_instances_version_id_foreign" foreign key ("version_id") references "workflow_versions" ("id") on update no action on delete restrict;`,
    );
    this.addSql(
      `alter table "workflow_instances" add constraint "workflow_instances_initiator_id_foreign" foreign key ("initiator_id") references "users" ("id") on update no action on delete restrict;`,
    );
    this.addSql(
      `alter table "workflow_instances" add constraint "workflow_instances_trigger_check" check (trigger in ('create', 'update', 'delete'));`,
    );
    this.addSql(
      `alter table "workflow_instances" add constraint "workflow_instances_status_check" check (status in ('running', 'waiting', 'failing', 'completed', 'rejected', 'cancelled'));`,
    );
    this.addSql(`alter table "workflow_instances" enable row level security;`);
    this.addSql(
      `create policy "workflow_instances_app" on "workflow_instances" to "core_app" using (organization_id = current_setting('core.organization_id', true)) with check (organization_id = current_setting('core.organization_id', true));`,
    );
    this.addSql(
      `create policy "workflow_instances_system" on "workflow_instances" to "core_system" using (coalesce(current_setting('core.organization_id', true), '') = '' or organization_id = current_setting('core.organization_id', true)) with check (coalesce(current_setting('core.organization_id', true), '') = '' or organization_id = current_setting('core.organization_id', true));`,
    );

    this.addSql(
      `alter table "workflow_events" add constraint "workflow_events_organization_id_foreign" foreign key ("organization_id") references "organizations" ("id") on update no action on delete restrict;`,
    );
    this.addSql(
      `alter table "workflow_events" add constraint "workflow_events_instance_id_foreign" foreign key ("instance_id") references "workflow_instances" ("id") on update no action on delete restrict;`,
    );
    this.addSql(
      `alter table "workflow_events" add constraint "workflow_events_person_id_foreign" foreign key ("person_id") references "users" ("id") on update no action on delete restrict;`,
    );
    this.addSql(
      `alter table "workflow_events" add constraint "workflow_events_type_check" check (type in ('workflow_triggered', 'action_completed', 'action_skipped', 'action_failed', 'assignment_created', 'assignment_decided', 'assignment_cancelled', 'round_started', 'reminded', 'escalated', 'proposal_applied', 'proposal_rejected', 'workflow_completed'));`,
    );
    this.addSql(`alter table "workflow_events" enable row level security;`);
    this.addSql(
      `create policy "workflow_events_app" on "workflow_events" to "core_app" using (organization_id = current_setting('core.organization_id', true)) with check (organization_id = current_setting('core.organization_id', true));`,
    );
    this.addSql(
      `create policy "workflow_events_system" on "workflow_events" to "core_system" using (coalesce(current_setting('core.organization_id', true), '') = '' or organization_id = current_setting('core.organization_id', true)) with check (coalesce(current_setting('core.organization_id', true), '') = '' or organization_id = current_setting('core.organization_id', true));`,
    );

    this.addSql(
      `alter table "workflow_assignments" add constraint "workflow_assignments_organization_id_foreign" foreign key ("organization_id") references "organizations" ("id") on update no action on delete restrict;`,
    );
    this.addSql(
      `alter table "workflow_assignments" add constraint "workflow_assignments_instance_id_foreign" foreign key ("instance_id") references "workflow_instances" ("id") on update no action on delete restrict;`,
    );
    this.addSql(
      `alter table "workflow_assignments" add constraint "workflow_assignments_user_id_foreign" foreign key ("user_id") references "users" ("id") on update no action on delete restrict;`,
    );
    this.addSql(
      `alter table "workflow_assignments" add constraint "workflow_assignments_role_check" check (role in ('approver', 'reviewer'));`,
    );
    this.addSql(
      `alter table "workflow_assignments" add constraint "workflow_assignments_source_check" check (source in ('target', 'escalated', 'delegated', 'reassigned'));`,
    );
    this.addSql(
      `alter table "workflow_assignments" add constraint "workflow_assignments_status_check" check (status in ('pending', 'approved', 'rejected', 'changes_requested', 'cancelled'));`,
    );
    this.addSql(`alter table "workflow_assignments" enable row level security;`);
    this.addSql(
      `create policy "workflow_assignments_app" on "workflow_assignments" to "core_app" using (organization_id = current_setting('core.organization_id', true)) with check (organization_id = current_setting('core.organization_id', true));`,
    );
    this.addSql(
      `create policy "workflow_assignments_system" on "workflow_assignments" to "core_system" using (coalesce(current_setting('core.organization_id', true), '') = '' or organization_id = current_setting('core.organization_id', true)) with check (coalesce(current_setting('core.organization_id', true), '') = '' or organization_id = current_setting('core.organization_id', true));`,
    );
  }

  override down(): void | Promise<void> {
    this.addSql(`alter table "workflow_versions" drop constraint "workflow_versions_definition_id_foreign";`);
    this.addSql(`alter table "workflow_instances" drop constraint "workflow_instances_definition_id_foreign";`);
    this.addSql(`alter table "workflow_instances" drop constraint "workflow_instances_version_id_foreign";`);
    this.addSql(`alter table "workflow_events" drop constraint "workflow_events_instance_id_foreign";`);
    this.addSql(`alter table "workflow_assignments" drop constraint "workflow_assignments_instance_id_foreign";`);

    this.addSql(`drop table if exists "workflow_definitions" cascade;`);
    this.addSql(`drop table if exists "workflow_versions" cascade;`);
    this.addSql(`drop table if exists "workflow_instances" cascade;`);
    this.addSql(`drop table if exists "workflow_events" cascade;`);
    this.addSql(`drop table if exists "workflow_assignments" cascade;`);
  }
}

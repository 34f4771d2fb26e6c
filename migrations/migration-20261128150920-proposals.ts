import { Migration } from '@mikro-orm/migrations';

export class Migration20261128150920Proposals extends Migration {
  override up(): void | Promise<void> {
    this.addSql(
      `create table "webhook_endpoint_proposals" ("id" text not null, "created_at" timestamptz not null, "updated_at" timestamptz not null, "created_by" text not null, "updated_by" text not null, "record_version" integer not null, "deleted_at" timestamptz null, "deleted_by" text null, "organization_id" text not null, "webhook_endpoint_id" text not null, "definition_id" text not null, "instance_id" text null, "trigger" text not null, "domain" text not null, "changes" jsonb not null, "base_values" jsonb not null, "hash" text not null, "revision" integer not null, "status" text not null, "submitter_id" text null, "submitter_token_id" text null, "submitted_at" timestamptz null, "ended_at" timestamptz null, "reason_code" text null, "reason" text null, "open_key" text null, primary key ("id"));`,
    );
    this.addSql(
      `comment on table "webhook_endpoint_proposals" is 'Change or deletion of one webhook endpoint that waits for approvals.';`,
    );
    this.addSql(
      `comment on column "webhook_endpoint_proposals"."webhook_endpoint_id" is 'Record that changes when the proposal is approved.';`,
    );
    this.addSql(
      `comment on column "webhook_endpoint_proposals"."definition_id" is 'Definition of the workflow that holds the change.';`,
    );
    this.addSql(
      `comment on column "webhook_endpoint_proposals"."instance_id" is 'Workflow that decides; null before the first submission.';`,
    );
    this.addSql(
      `comment on column "webhook_endpoint_proposals"."trigger" is 'Whether the record is to be changed (update) or deleted (delete).';`,
    );
    this.addSql(
      `comment on column "webhook_endpoint_proposals"."domain" is 'Names of the proposed fields, sorted and separated by commas; empty for a deletion.';`,
    );
    this.addSql(`comment on column "webhook_endpoint_proposals"."changes" is 'Proposed values by field.';`);
    this.addSql(
      `comment on column "webhook_endpoint_proposals"."base_values" is 'Values of these fields when the change was proposed.';`,
    );
    this.addSql(
      `comment on column "webhook_endpoint_proposals"."hash" is 'SHA-256 of the proposed values, in hexadecimal: a decision names the values that it is about.';`,
    );
    this.addSql(
      `comment on column "webhook_endpoint_proposals"."revision" is 'Number of the submission, from 1; each change of the proposal is a new one.';`,
    );
    this.addSql(`comment on column "webhook_endpoint_proposals"."status" is 'Status.';`);
    this.addSql(
      `comment on column "webhook_endpoint_proposals"."submitter_id" is 'Person who proposes the change; null for a program.';`,
    );
    this.addSql(
      `comment on column "webhook_endpoint_proposals"."submitter_token_id" is 'Id of the token with which the change was made; null without one.';`,
    );
    this.addSql(
      `comment on column "webhook_endpoint_proposals"."submitted_at" is 'When it was last submitted; null for a draft.';`,
    );
    this.addSql(
      `comment on column "webhook_endpoint_proposals"."ended_at" is 'When it ended; null while it is open.';`,
    );
    this.addSql(
      `comment on column "webhook_endpoint_proposals"."reason_code" is 'Code of the error with which an approved change was refused, or of the end.';`,
    );
    this.addSql(`comment on column "webhook_endpoint_proposals"."reason" is 'Why it ended so, as text for people.';`);
    this.addSql(
      `comment on column "webhook_endpoint_proposals"."open_key" is 'Ids of record and definition while it is open: a definition has one open proposal for a record.';`,
    );
    this.addSql(
      `create index "webhook_endpoint_proposals_webhook_endpoint_id_index" on "webhook_endpoint_proposals" ("webhook_endpoint_id");`,
    );
    this.addSql(
      `create index "webhook_endpoint_proposals_definition_id_index" on "webhook_endpoint_proposals" ("definition_id");`,
    );
    this.addSql(
      `create index "webhook_endpoint_proposals_organization_id_id_index" on "webhook_endpoint_proposals" ("organization_id", "id") where deleted_at is null;`,
    );
    this.addSql(
      `create index "webhook_endpoint_proposals_organization_id_webhook_end_2e908bf2" on "webhook_endpoint_proposals" ("organization_id", "webhook_endpoint_id", "id") where deleted_at is null;`,
    );
    this.addSql(
      `create index "webhook_endpoint_proposals_organization_id_definition__0bb64760" on "webhook_endpoint_proposals" ("organization_id", "definition_id", "id") where deleted_at is null;`,
    );
    this.addSql(
      `create index "webhook_endpoint_proposals_organization_id_instance_id_id_index" on "webhook_endpoint_proposals" ("organization_id", "instance_id", "id") where deleted_at is null;`,
    );
    this.addSql(
      `create index "webhook_endpoint_proposals_organization_id_trigger_id_index" on "webhook_endpoint_proposals" ("organization_id", "trigger", "id") where deleted_at is null;`,
    );
    this.addSql(
      `create index "webhook_endpoint_proposals_organization_id_status_id_index" on "webhook_endpoint_proposals" ("organization_id", "status", "id") where deleted_at is null;`,
    );
    this.addSql(
      `create index "webhook_endpoint_proposals_organization_id_submitter_i_4b11f21c" on "webhook_endpoint_proposals" ("organization_id", "submitter_id", "id") where deleted_at is null;`,
    );
    this.addSql(
      `create index "webhook_endpoint_proposals_organization_id_ended_at_id_index" on "webhook_endpoint_proposals" ("organization_id", "ended_at", "id") where deleted_at is null;`,
    );
    this.addSql(
      `create index "webhook_endpoint_proposals_organization_id_submitted_a_dc9cea56" on "webhook_endpoint_proposals" ("organization_id", "submitted_at", "id") where deleted_at is null;`,
    );
    this.addSql(
      `create index "webhook_endpoint_proposals_organization_id_created_at_id_index" on "webhook_endpoint_proposals" ("organization_id", "created_at", "id") where deleted_at is null;`,
    );
    this.addSql(
      `create index "webhook_endpoint_proposals_organization_id_updated_at_id_index" on "webhook_endpoint_proposals" ("organization_id", "updated_at", "id") where deleted_at is null;`,
    );
    this.addSql(
      `create index "webhook_endpoint_proposals_organization_id_submitted_a_b799b125" on "webhook_endpoint_proposals" (organization_id, submitted_at desc nulls last, id desc) where deleted_at is null;`,
    );
    this.addSql(
      `create index "webhook_endpoint_proposals_organization_id_ended_at_descending" on "webhook_endpoint_proposals" (organization_id, ended_at desc nulls last, id desc) where deleted_at is null;`,
    );
    this.addSql(
      `create index "webhook_endpoint_proposals_instance_id_index" on "webhook_endpoint_proposals" ("instance_id") where instance_id is not null;`,
    );
    this.addSql(
      `create index "webhook_endpoint_proposals_submitter_id_index" on "webhook_endpoint_proposals" ("submitter_id") where submitter_id is not null;`,
    );
    this.addSql(
      `create unique index "webhook_endpoint_proposals_open_key_key" on "webhook_endpoint_proposals" ("open_key") where deleted_at is null;`,
    );

    this.addSql(
      `create table "task_proposals" ("id" text not null, "created_at" timestamptz not null, "updated_at" timestamptz not null, "created_by" text not null, "updated_by" text not null, "record_version" integer not null, "deleted_at" timestamptz null, "deleted_by" text null, "organization_id" text not null, "task_id" text not null, "definition_id" text not null, "instance_id" text null, "trigger" text not null, "domain" text not null, "changes" jsonb not null, "base_values" jsonb not null, "hash" text not null, "revision" integer not null, "status" text not null, "submitter_id" text null, "submitter_token_id" text null, "submitted_at" timestamptz null, "ended_at" timestamptz null, "reason_code" text null, "reason" text null, "open_key" text null, primary key ("id"));`,
    );
    this.addSql(`comment on table "task_proposals" is 'Change or deletion of one task that waits for approvals.';`);
    this.addSql(
      `comment on column "task_proposals"."task_id" is 'Record that changes when the proposal is approved.';`,
    );
    this.addSql(
      `comment on column "task_proposals"."definition_id" is 'Definition of the workflow that holds the change.';`,
    );
    this.addSql(
      `comment on column "task_proposals"."instance_id" is 'Workflow that decides; null before the first submission.';`,
    );
    this.addSql(
      `comment on column "task_proposals"."trigger" is 'Whether the record is to be changed (update) or deleted (delete).';`,
    );
    this.addSql(
      `comment on column "task_proposals"."domain" is 'Names of the proposed fields, sorted and separated by commas; empty for a deletion.';`,
    );
    this.addSql(`comment on column "task_proposals"."changes" is 'Proposed values by field.';`);
    this.addSql(
      `comment on column "task_proposals"."base_values" is 'Values of these fields when the change was proposed.';`,
    );
    this.addSql(
      `comment on column "task_proposals"."hash" is 'SHA-256 of the proposed values, in hexadecimal: a decision names the values that it is about.';`,
    );
    this.addSql(
      `comment on column "task_proposals"."revision" is 'Number of the submission, from 1; each change of the proposal is a new one.';`,
    );
    this.addSql(`comment on column "task_proposals"."status" is 'Status.';`);
    this.addSql(
      `comment on column "task_proposals"."submitter_id" is 'Person who proposes the change; null for a program.';`,
    );
    this.addSql(
      `comment on column "task_proposals"."submitter_token_id" is 'Id of the token with which the change was made; null without one.';`,
    );
    this.addSql(
      `comment on column "task_proposals"."submitted_at" is 'When it was last submitted; null for a draft.';`,
    );
    this.addSql(`comment on column "task_proposals"."ended_at" is 'When it ended; null while it is open.';`);
    this.addSql(
      `comment on column "task_proposals"."reason_code" is 'Code of the error with which an approved change was refused, or of the end.';`,
    );
    this.addSql(`comment on column "task_proposals"."reason" is 'Why it ended so, as text for people.';`);
    this.addSql(
      `comment on column "task_proposals"."open_key" is 'Ids of record and definition while it is open: a definition has one open proposal for a record.';`,
    );
    this.addSql(`create index "task_proposals_task_id_index" on "task_proposals" ("task_id");`);
    this.addSql(`create index "task_proposals_definition_id_index" on "task_proposals" ("definition_id");`);
    this.addSql(
      `create index "task_proposals_organization_id_id_index" on "task_proposals" ("organization_id", "id") where deleted_at is null;`,
    );
    this.addSql(
      `create index "task_proposals_organization_id_task_id_id_index" on "task_proposals" ("organization_id", "task_id", "id") where deleted_at is null;`,
    );
    this.addSql(
      `create index "task_proposals_organization_id_definition_id_id_index" on "task_proposals" ("organization_id", "definition_id", "id") where deleted_at is null;`,
    );
    this.addSql(
      `create index "task_proposals_organization_id_instance_id_id_index" on "task_proposals" ("organization_id", "instance_id", "id") where deleted_at is null;`,
    );
    this.addSql(
      `create index "task_proposals_organization_id_trigger_id_index" on "task_proposals" ("organization_id", "trigger", "id") where deleted_at is null;`,
    );
    this.addSql(
      `create index "task_proposals_organization_id_status_id_index" on "task_proposals" ("organization_id", "status", "id") where deleted_at is null;`,
    );
    this.addSql(
      `create index "task_proposals_organization_id_submitter_id_id_index" on "task_proposals" ("organization_id", "submitter_id", "id") where deleted_at is null;`,
    );
    this.addSql(
      `create index "task_proposals_organization_id_ended_at_id_index" on "task_proposals" ("organization_id", "ended_at", "id") where deleted_at is null;`,
    );
    this.addSql(
      `create index "task_proposals_organization_id_submitted_at_id_index" on "task_proposals" ("organization_id", "submitted_at", "id") where deleted_at is null;`,
    );
    this.addSql(
      `create index "task_proposals_organization_id_created_at_id_index" on "task_proposals" ("organization_id", "created_at", "id") where deleted_at is null;`,
    );
    this.addSql(
      `create index "task_proposals_organization_id_updated_at_id_index" on "task_proposals" ("organization_id", "updated_at", "id") where deleted_at is null;`,
    );
    this.addSql(
      `create index "task_proposals_organization_id_submitted_at_descending" on "task_proposals" (organization_id, submitted_at desc nulls last, id desc) where deleted_at is null;`,
    );
    this.addSql(
      `create index "task_proposals_organization_id_ended_at_descending" on "task_proposals" (organization_id, ended_at desc nulls last, id desc) where deleted_at is null;`,
    );
    this.addSql(
      `create index "task_proposals_instance_id_index" on "task_proposals" ("instance_id") where instance_id is not null;`,
    );
    this.addSql(
      `create index "task_proposals_submitter_id_index" on "task_proposals" ("submitter_id") where submitter_id is not null;`,
    );
    this.addSql(
      `create unique index "task_proposals_open_key_key" on "task_proposals" ("open_key") where deleted_at is null;`,
    );

    this.addSql(
      `create table "organization_setting_proposals" ("id" text not null, "created_at" timestamptz not null, "updated_at" timestamptz not null, "created_by" text not null, "updated_by" text not null, "record_version" integer not null, "deleted_at" timestamptz null, "deleted_by" text null, "organization_id" text not null, "organization_setting_id" text not null, "definition_id" text not null, "instance_id" text null, "trigger" text not null, "domain" text not null, "changes" jsonb not null, "base_values" jsonb not null, "hash" text not null, "revision" integer not null, "status" text not null, "submitter_id" text null, "submitter_token_id" text null, "submitted_at" timestamptz null, "ended_at" timestamptz null, "reason_code" text null, "reason" text null, "open_key" text null, primary key ("id"));`,
    );
    this.addSql(
      `comment on table "organization_setting_proposals" is 'Change or deletion of one organization setting that waits for approvals.';`,
    );
    this.addSql(
      `comment on column "organization_setting_proposals"."organization_setting_id" is 'Record that changes when the proposal is approved.';`,
    );
    this.addSql(
      `comment on column "organization_setting_proposals"."definition_id" is 'Definition of the workflow that holds the change.';`,
    );
    this.addSql(
      `comment on column "organization_setting_proposals"."instance_id" is 'Workflow that decides; null before the first submission.';`,
    );
    this.addSql(
      `comment on column "organization_setting_proposals"."trigger" is 'Whether the record is to be changed (update) or deleted (delete).';`,
    );
    this.addSql(
      `comment on column "organization_setting_proposals"."domain" is 'Names of the proposed fields, sorted and separated by commas; empty for a deletion.';`,
    );
    this.addSql(`comment on column "organization_setting_proposals"."changes" is 'Proposed values by field.';`);
    this.addSql(
      `comment on column "organization_setting_proposals"."base_values" is 'Values of these fields when the change was proposed.';`,
    );
    this.addSql(
      `comment on column "organization_setting_proposals"."hash" is 'SHA-256 of the proposed values, in hexadecimal: a decision names the values that it is about.';`,
    );
    this.addSql(
      `comment on column "organization_setting_proposals"."revision" is 'Number of the submission, from 1; each change of the proposal is a new one.';`,
    );
    this.addSql(`comment on column "organization_setting_proposals"."status" is 'Status.';`);
    this.addSql(
      `comment on column "organization_setting_proposals"."submitter_id" is 'Person who proposes the change; null for a program.';`,
    );
    this.addSql(
      `comment on column "organization_setting_proposals"."submitter_token_id" is 'Id of the token with which the change was made; null without one.';`,
    );
    this.addSql(
      `comment on column "organization_setting_proposals"."submitted_at" is 'When it was last submitted; null for a draft.';`,
    );
    this.addSql(
      `comment on column "organization_setting_proposals"."ended_at" is 'When it ended; null while it is open.';`,
    );
    this.addSql(
      `comment on column "organization_setting_proposals"."reason_code" is 'Code of the error with which an approved change was refused, or of the end.';`,
    );
    this.addSql(
      `comment on column "organization_setting_proposals"."reason" is 'Why it ended so, as text for people.';`,
    );
    this.addSql(
      `comment on column "organization_setting_proposals"."open_key" is 'Ids of record and definition while it is open: a definition has one open proposal for a record.';`,
    );
    this.addSql(
      `create index "organization_setting_proposals_organization_setting_id_index" on "organization_setting_proposals" ("organization_setting_id");`,
    );
    this.addSql(
      `create index "organization_setting_proposals_definition_id_index" on "organization_setting_proposals" ("definition_id");`,
    );
    this.addSql(
      `create index "organization_setting_proposals_organization_id_id_index" on "organization_setting_proposals" ("organization_id", "id") where deleted_at is null;`,
    );
    this.addSql(
      `create index "organization_setting_proposals_organization_id_organiz_013bda00" on "organization_setting_proposals" ("organization_id", "organization_setting_id", "id") where deleted_at is null;`,
    );
    this.addSql(
      `create index "organization_setting_proposals_organization_id_definit_822ec6bd" on "organization_setting_proposals" ("organization_id", "definition_id", "id") where deleted_at is null;`,
    );
    this.addSql(
      `create index "organization_setting_proposals_organization_id_instanc_afdeca33" on "organization_setting_proposals" ("organization_id", "instance_id", "id") where deleted_at is null;`,
    );
    this.addSql(
      `create index "organization_setting_proposals_organization_id_trigger_id_index" on "organization_setting_proposals" ("organization_id", "trigger", "id") where deleted_at is null;`,
    );
    this.addSql(
      `create index "organization_setting_proposals_organization_id_status_id_index" on "organization_setting_proposals" ("organization_id", "status", "id") where deleted_at is null;`,
    );
    this.addSql(
      `create index "organization_setting_proposals_organization_id_submitt_a7b71dd6" on "organization_setting_proposals" ("organization_id", "submitter_id", "id") where deleted_at is null;`,
    );
    this.addSql(
      `create index "organization_setting_proposals_organization_id_ended_a_88aec407" on "organization_setting_proposals" ("organization_id", "ended_at", "id") where deleted_at is null;`,
    );
    this.addSql(
      `create index "organization_setting_proposals_organization_id_submitt_69070123" on "organization_setting_proposals" ("organization_id", "submitted_at", "id") where deleted_at is null;`,
    );
    this.addSql(
      `create index "organization_setting_proposals_organization_id_created_58c53ab9" on "organization_setting_proposals" ("organization_id", "created_at", "id") where deleted_at is null;`,
    );
    this.addSql(
      `create index "organization_setting_proposals_organization_id_updated_80ea9f4c" on "organization_setting_proposals" ("organization_id", "updated_at", "id") where deleted_at is null;`,
    );
    this.addSql(
      `create index "organization_setting_proposals_organization_id_submitt_8609f9e5" on "organization_setting_proposals" (organization_id, submitted_at desc nulls last, id desc) where deleted_at is null;`,
    );
    this.addSql(
      `create index "organization_setting_proposals_organization_id_ended_a_6f4e1924" on "organization_setting_proposals" (organization_id, ended_at desc nulls last, id desc) where deleted_at is null;`,
    );
    this.addSql(
      `create index "organization_setting_proposals_instance_id_index" on "organization_setting_proposals" ("instance_id") where instance_id is not null;`,
    );
    this.addSql(
      `create index "organization_setting_proposals_submitter_id_index" on "organization_setting_proposals" ("submitter_id") where submitter_id is not null;`,
    );
    this.addSql(
      `create unique index "organization_setting_proposals_open_key_key" on "organization_setting_proposals" ("open_key") where deleted_at is null;`,
    );

    this.addSql(
      `create table "membership_proposals" ("id" text not null, "created_at" timestamptz not null, "updated_at" timestamptz not null, "created_by" text not null, "updated_by" text not null, "record_version" integer not null, "deleted_at" timestamptz null, "deleted_by" text null, "organization_id" text not null, "membership_id" text not null, "definition_id" text not null, "instance_id" text null, "trigger" text not null, "domain" text not null, "changes" jsonb not null, "base_values" jsonb not null, "hash" text not null, "revision" integer not null, "status" text not null, "submitter_id" text null, "submitter_token_id" text null, "submitted_at" timestamptz null, "ended_at" timestamptz null, "reason_code" text null, "reason" text null, "open_key" text null, primary key ("id"));`,
    );
    this.addSql(
      `comment on table "membership_proposals" is 'Change or deletion of one membership that waits for approvals.';`,
    );
    this.addSql(
      `comment on column "membership_proposals"."membership_id" is 'Record that changes when the proposal is approved.';`,
    );
    this.addSql(
      `comment on column "membership_proposals"."definition_id" is 'Definition of the workflow that holds the change.';`,
    );
    this.addSql(
      `comment on column "membership_proposals"."instance_id" is 'Workflow that decides; null before the first submission.';`,
    );
    this.addSql(
      `comment on column "membership_proposals"."trigger" is 'Whether the record is to be changed (update) or deleted (delete).';`,
    );
    this.addSql(
      `comment on column "membership_proposals"."domain" is 'Names of the proposed fields, sorted and separated by commas; empty for a deletion.';`,
    );
    this.addSql(`comment on column "membership_proposals"."changes" is 'Proposed values by field.';`);
    this.addSql(
      `comment on column "membership_proposals"."base_values" is 'Values of these fields when the change was proposed.';`,
    );
    this.addSql(
      `comment on column "membership_proposals"."hash" is 'SHA-256 of the proposed values, in hexadecimal: a decision names the values that it is about.';`,
    );
    this.addSql(
      `comment on column "membership_proposals"."revision" is 'Number of the submission, from 1; each change of the proposal is a new one.';`,
    );
    this.addSql(`comment on column "membership_proposals"."status" is 'Status.';`);
    this.addSql(
      `comment on column "membership_proposals"."submitter_id" is 'Person who proposes the change; null for a program.';`,
    );
    this.addSql(
      `comment on column "membership_proposals"."submitter_token_id" is 'Id of the token with which the change was made; null without one.';`,
    );
    this.addSql(
      `comment on column "membership_proposals"."submitted_at" is 'When it was last submitted; null for a draft.';`,
    );
    this.addSql(`comment on column "membership_proposals"."ended_at" is 'When it ended; null while it is open.';`);
    this.addSql(
      `comment on column "membership_proposals"."reason_code" is 'Code of the error with which an approved change was refused, or of the end.';`,
    );
    this.addSql(`comment on column "membership_proposals"."reason" is 'Why it ended so, as text for people.';`);
    this.addSql(
      `comment on column "membership_proposals"."open_key" is 'Ids of record and definition while it is open: a definition has one open proposal for a record.';`,
    );
    this.addSql(`create index "membership_proposals_membership_id_index" on "membership_proposals" ("membership_id");`);
    this.addSql(`create index "membership_proposals_definition_id_index" on "membership_proposals" ("definition_id");`);
    this.addSql(
      `create index "membership_proposals_organization_id_id_index" on "membership_proposals" ("organization_id", "id") where deleted_at is null;`,
    );
    this.addSql(
      `create index "membership_proposals_organization_id_membership_id_id_index" on "membership_proposals" ("organization_id", "membership_id", "id") where deleted_at is null;`,
    );
    this.addSql(
      `create index "membership_proposals_organization_id_definition_id_id_index" on "membership_proposals" ("organization_id", "definition_id", "id") where deleted_at is null;`,
    );
    this.addSql(
      `create index "membership_proposals_organization_id_instance_id_id_index" on "membership_proposals" ("organization_id", "instance_id", "id") where deleted_at is null;`,
    );
    this.addSql(
      `create index "membership_proposals_organization_id_trigger_id_index" on "membership_proposals" ("organization_id", "trigger", "id") where deleted_at is null;`,
    );
    this.addSql(
      `create index "membership_proposals_organization_id_status_id_index" on "membership_proposals" ("organization_id", "status", "id") where deleted_at is null;`,
    );
    this.addSql(
      `create index "membership_proposals_organization_id_submitter_id_id_index" on "membership_proposals" ("organization_id", "submitter_id", "id") where deleted_at is null;`,
    );
    this.addSql(
      `create index "membership_proposals_organization_id_ended_at_id_index" on "membership_proposals" ("organization_id", "ended_at", "id") where deleted_at is null;`,
    );
    this.addSql(
      `create index "membership_proposals_organization_id_submitted_at_id_index" on "membership_proposals" ("organization_id", "submitted_at", "id") where deleted_at is null;`,
    );
    this.addSql(
      `create index "membership_proposals_organization_id_created_at_id_index" on "membership_proposals" ("organization_id", "created_at", "id") where deleted_at is null;`,
    );
    this.addSql(
      `create index "membership_proposals_organization_id_updated_at_id_index" on "membership_proposals" ("organization_id", "updated_at", "id") where deleted_at is null;`,
    );
    this.addSql(
      `create index "membership_proposals_organization_id_submitted_at_descending" on "membership_proposals" (organization_id, submitted_at desc nulls last, id desc) where deleted_at is null;`,
    );
    this.addSql(
      `create index "membership_proposals_organization_id_ended_at_descending" on "membership_proposals" (organization_id, ended_at desc nulls last, id desc) where deleted_at is null;`,
    );
    this.addSql(
      `create index "membership_proposals_instance_id_index" on "membership_proposals" ("instance_id") where instance_id is not null;`,
    );
    this.addSql(
      `create index "membership_proposals_submitter_id_index" on "membership_proposals" ("submitter_id") where submitter_id is not null;`,
    );
    this.addSql(
      `create unique index "membership_proposals_open_key_key" on "membership_proposals" ("open_key") where deleted_at is null;`,
    );

    this.addSql(
      `create table "identity_provider_proposals" ("id" text not null, "created_at" timestamptz not null, "updated_at" timestamptz not null, "created_by" text not null, "updated_by" text not null, "record_version" integer not null, "deleted_at" timestamptz null, "deleted_by" text null, "organization_id" text not null, "identity_provider_id" text not null, "definition_id" text not null, "instance_id" text null, "trigger" text not null, "domain" text not null, "changes" jsonb not null, "base_values" jsonb not null, "hash" text not null, "revision" integer not null, "status" text not null, "submitter_id" text null, "submitter_token_id" text null, "submitted_at" timestamptz null, "ended_at" timestamptz null, "reason_code" text null, "reason" text null, "open_key" text null, primary key ("id"));`,
    );
    this.addSql(
      `comment on table "identity_provider_proposals" is 'Change or deletion of one identity provider that waits for approvals.';`,
    );
    this.addSql(
      `comment on column "identity_provider_proposals"."identity_provider_id" is 'Record that changes when the proposal is approved.';`,
    );
    this.addSql(
      `comment on column "identity_provider_proposals"."definition_id" is 'Definition of the workflow that holds the change.';`,
    );
    this.addSql(
      `comment on column "identity_provider_proposals"."instance_id" is 'Workflow that decides; null before the first submission.';`,
    );
    this.addSql(
      `comment on column "identity_provider_proposals"."trigger" is 'Whether the record is to be changed (update) or deleted (delete).';`,
    );
    this.addSql(
      `comment on column "identity_provider_proposals"."domain" is 'Names of the proposed fields, sorted and separated by commas; empty for a deletion.';`,
    );
    this.addSql(`comment on column "identity_provider_proposals"."changes" is 'Proposed values by field.';`);
    this.addSql(
      `comment on column "identity_provider_proposals"."base_values" is 'Values of these fields when the change was proposed.';`,
    );
    this.addSql(
      `comment on column "identity_provider_proposals"."hash" is 'SHA-256 of the proposed values, in hexadecimal: a decision names the values that it is about.';`,
    );
    this.addSql(
      `comment on column "identity_provider_proposals"."revision" is 'Number of the submission, from 1; each change of the proposal is a new one.';`,
    );
    this.addSql(`comment on column "identity_provider_proposals"."status" is 'Status.';`);
    this.addSql(
      `comment on column "identity_provider_proposals"."submitter_id" is 'Person who proposes the change; null for a program.';`,
    );
    this.addSql(
      `comment on column "identity_provider_proposals"."submitter_token_id" is 'Id of the token with which the change was made; null without one.';`,
    );
    this.addSql(
      `comment on column "identity_provider_proposals"."submitted_at" is 'When it was last submitted; null for a draft.';`,
    );
    this.addSql(
      `comment on column "identity_provider_proposals"."ended_at" is 'When it ended; null while it is open.';`,
    );
    this.addSql(
      `comment on column "identity_provider_proposals"."reason_code" is 'Code of the error with which an approved change was refused, or of the end.';`,
    );
    this.addSql(`comment on column "identity_provider_proposals"."reason" is 'Why it ended so, as text for people.';`);
    this.addSql(
      `comment on column "identity_provider_proposals"."open_key" is 'Ids of record and definition while it is open: a definition has one open proposal for a record.';`,
    );
    this.addSql(
      `create index "identity_provider_proposals_identity_provider_id_index" on "identity_provider_proposals" ("identity_provider_id");`,
    );
    this.addSql(
      `create index "identity_provider_proposals_definition_id_index" on "identity_provider_proposals" ("definition_id");`,
    );
    this.addSql(
      `create index "identity_provider_proposals_organization_id_id_index" on "identity_provider_proposals" ("organization_id", "id") where deleted_at is null;`,
    );
    this.addSql(
      `create index "identity_provider_proposals_organization_id_identity_p_b5d20a96" on "identity_provider_proposals" ("organization_id", "identity_provider_id", "id") where deleted_at is null;`,
    );
    this.addSql(
      `create index "identity_provider_proposals_organization_id_definition_7ccc9527" on "identity_provider_proposals" ("organization_id", "definition_id", "id") where deleted_at is null;`,
    );
    this.addSql(
      `create index "identity_provider_proposals_organization_id_instance_i_8e9f10ec" on "identity_provider_proposals" ("organization_id", "instance_id", "id") where deleted_at is null;`,
    );
    this.addSql(
      `create index "identity_provider_proposals_organization_id_trigger_id_index" on "identity_provider_proposals" ("organization_id", "trigger", "id") where deleted_at is null;`,
    );
    this.addSql(
      `create index "identity_provider_proposals_organization_id_status_id_index" on "identity_provider_proposals" ("organization_id", "status", "id") where deleted_at is null;`,
    );
    this.addSql(
      `create index "identity_provider_proposals_organization_id_submitter__34d4d31b" on "identity_provider_proposals" ("organization_id", "submitter_id", "id") where deleted_at is null;`,
    );
    this.addSql(
      `create index "identity_provider_proposals_organization_id_ended_at_id_index" on "identity_provider_proposals" ("organization_id", "ended_at", "id") where deleted_at is null;`,
    );
    this.addSql(
      `create index "identity_provider_proposals_organization_id_submitted__8568348a" on "identity_provider_proposals" ("organization_id", "submitted_at", "id") where deleted_at is null;`,
    );
    this.addSql(
      `create index "identity_provider_proposals_organization_id_created_at_id_index" on "identity_provider_proposals" ("organization_id", "created_at", "id") where deleted_at is null;`,
    );
    this.addSql(
      `create index "identity_provider_proposals_organization_id_updated_at_id_index" on "identity_provider_proposals" ("organization_id", "updated_at", "id") where deleted_at is null;`,
    );
    this.addSql(
      `create index "identity_provider_proposals_organization_id_submitted__e5d60eb2" on "identity_provider_proposals" (organization_id, submitted_at desc nulls last, id desc) where deleted_at is null;`,
    );
    this.addSql(
      `create index "identity_provider_proposals_organization_id_ended_at_descending" on "identity_provider_proposals" (organization_id, ended_at desc nulls last, id desc) where deleted_at is null;`,
    );
    this.addSql(
      `create index "identity_provider_proposals_instance_id_index" on "identity_provider_proposals" ("instance_id") where instance_id is not null;`,
    );
    this.addSql(
      `create index "identity_provider_proposals_submitter_id_index" on "identity_provider_proposals" ("submitter_id") where submitter_id is not null;`,
    );
    this.addSql(
      `create unique index "identity_provider_proposals_open_key_key" on "identity_provider_proposals" ("open_key") where deleted_at is null;`,
    );

    this.addSql(
      `create table "group_membership_proposals" ("id" text not null, "created_at" timestamptz not null, "updated_at" timestamptz not null, "created_by" text not null, "updated_by" text not null, "record_version" integer not null, "deleted_at" timestamptz null, "deleted_by" text null, "organization_id" text not null, "group_membership_id" text not null, "definition_id" text not null, "instance_id" text null, "trigger" text not null, "domain" text not null, "changes" jsonb not null, "base_values" jsonb not null, "hash" text not null, "revision" integer not null, "status" text not null, "submitter_id" text null, "submitter_token_id" text null, "submitted_at" timestamptz null, "ended_at" timestamptz null, "reason_code" text null, "reason" text null, "open_key" text null, primary key ("id"));`,
    );
    this.addSql(
      `comment on table "group_membership_proposals" is 'Change or deletion of one group membership that waits for approvals.';`,
    );
    this.addSql(
      `comment on column "group_membership_proposals"."group_membership_id" is 'Record that changes when the proposal is approved.';`,
    );
    this.addSql(
      `comment on column "group_membership_proposals"."definition_id" is 'Definition of the workflow that holds the change.';`,
    );
    this.addSql(
      `comment on column "group_membership_proposals"."instance_id" is 'Workflow that decides; null before the first submission.';`,
    );
    this.addSql(
      `comment on column "group_membership_proposals"."trigger" is 'Whether the record is to be changed (update) or deleted (delete).';`,
    );
    this.addSql(
      `comment on column "group_membership_proposals"."domain" is 'Names of the proposed fields, sorted and separated by commas; empty for a deletion.';`,
    );
    this.addSql(`comment on column "group_membership_proposals"."changes" is 'Proposed values by field.';`);
    this.addSql(
      `comment on column "group_membership_proposals"."base_values" is 'Values of these fields when the change was proposed.';`,
    );
    this.addSql(
      `comment on column "group_membership_proposals"."hash" is 'SHA-256 of the proposed values, in hexadecimal: a decision names the values that it is about.';`,
    );
    this.addSql(
      `comment on column "group_membership_proposals"."revision" is 'Number of the submission, from 1; each change of the proposal is a new one.';`,
    );
    this.addSql(`comment on column "group_membership_proposals"."status" is 'Status.';`);
    this.addSql(
      `comment on column "group_membership_proposals"."submitter_id" is 'Person who proposes the change; null for a program.';`,
    );
    this.addSql(
      `comment on column "group_membership_proposals"."submitter_token_id" is 'Id of the token with which the change was made; null without one.';`,
    );
    this.addSql(
      `comment on column "group_membership_proposals"."submitted_at" is 'When it was last submitted; null for a draft.';`,
    );
    this.addSql(
      `comment on column "group_membership_proposals"."ended_at" is 'When it ended; null while it is open.';`,
    );
    this.addSql(
      `comment on column "group_membership_proposals"."reason_code" is 'Code of the error with which an approved change was refused, or of the end.';`,
    );
    this.addSql(`comment on column "group_membership_proposals"."reason" is 'Why it ended so, as text for people.';`);
    this.addSql(
      `comment on column "group_membership_proposals"."open_key" is 'Ids of record and definition while it is open: a definition has one open proposal for a record.';`,
    );
    this.addSql(
      `create index "group_membership_proposals_group_membership_id_index" on "group_membership_proposals" ("group_membership_id");`,
    );
    this.addSql(
      `create index "group_membership_proposals_definition_id_index" on "group_membership_proposals" ("definition_id");`,
    );
    this.addSql(
      `create index "group_membership_proposals_organization_id_id_index" on "group_membership_proposals" ("organization_id", "id") where deleted_at is null;`,
    );
    this.addSql(
      `create index "group_membership_proposals_organization_id_group_membe_0b35dce8" on "group_membership_proposals" ("organization_id", "group_membership_id", "id") where deleted_at is null;`,
    );
    this.addSql(
      `create index "group_membership_proposals_organization_id_definition__4a54ccb9" on "group_membership_proposals" ("organization_id", "definition_id", "id") where deleted_at is null;`,
    );
    this.addSql(
      `create index "group_membership_proposals_organization_id_instance_id_id_index" on "group_membership_proposals" ("organization_id", "instance_id", "id") where deleted_at is null;`,
    );
    this.addSql(
      `create index "group_membership_proposals_organization_id_trigger_id_index" on "group_membership_proposals" ("organization_id", "trigger", "id") where deleted_at is null;`,
    );
    this.addSql(
      `create index "group_membership_proposals_organization_id_status_id_index" on "group_membership_proposals" ("organization_id", "status", "id") where deleted_at is null;`,
    );
    this.addSql(
      `create index "group_membership_proposals_organization_id_submitter_i_67c26a42" on "group_membership_proposals" ("organization_id", "submitter_id", "id") where deleted_at is null;`,
    );
    this.addSql(
      `create index "group_membership_proposals_organization_id_ended_at_id_index" on "group_membership_proposals" ("organization_id", "ended_at", "id") where deleted_at is null;`,
    );
    this.addSql(
      `create index "group_membership_proposals_organization_id_submitted_a_b48b4340" on "group_membership_proposals" ("organization_id", "submitted_at", "id") where deleted_at is null;`,
    );
    this.addSql(
      `create index "group_membership_proposals_organization_id_created_at_id_index" on "group_membership_proposals" ("organization_id", "created_at", "id") where deleted_at is null;`,
    );
    this.addSql(
      `create index "group_membership_proposals_organization_id_updated_at_id_index" on "group_membership_proposals" ("organization_id", "updated_at", "id") where deleted_at is null;`,
    );
    this.addSql(
      `create index "group_membership_proposals_organization_id_submitted_a_a71fce60" on "group_membership_proposals" (organization_id, submitted_at desc nulls last, id desc) where deleted_at is null;`,
    );
    this.addSql(
      `create index "group_membership_proposals_organization_id_ended_at_descending" on "group_membership_proposals" (organization_id, ended_at desc nulls last, id desc) where deleted_at is null;`,
    );
    this.addSql(
      `create index "group_membership_proposals_instance_id_index" on "group_membership_proposals" ("instance_id") where instance_id is not null;`,
    );
    this.addSql(
      `create index "group_membership_proposals_submitter_id_index" on "group_membership_proposals" ("submitter_id") where submitter_id is not null;`,
    );
    this.addSql(
      `create unique index "group_membership_proposals_open_key_key" on "group_membership_proposals" ("open_key") where deleted_at is null;`,
    );

    this.addSql(
      `create table "file_proposals" ("id" text not null, "created_at" timestamptz not null, "updated_at" timestamptz not null, "created_by" text not null, "updated_by" text not null, "record_version" integer not null, "deleted_at" timestamptz null, "deleted_by" text null, "organization_id" text not null, "file_id" text not null, "definition_id" text not null, "instance_id" text null, "trigger" text not null, "domain" text not null, "changes" jsonb not null, "base_values" jsonb not null, "hash" text not null, "revision" integer not null, "status" text not null, "submitter_id" text null, "submitter_token_id" text null, "submitted_at" timestamptz null, "ended_at" timestamptz null, "reason_code" text null, "reason" text null, "open_key" text null, primary key ("id"));`,
    );
    this.addSql(`comment on table "file_proposals" is 'Change or deletion of one file that waits for approvals.';`);
    this.addSql(
      `comment on column "file_proposals"."file_id" is 'Record that changes when the proposal is approved.';`,
    );
    this.addSql(
      `comment on column "file_proposals"."definition_id" is 'Definition of the workflow that holds the change.';`,
    );
    this.addSql(
      `comment on column "file_proposals"."instance_id" is 'Workflow that decides; null before the first submission.';`,
    );
    this.addSql(
      `comment on column "file_proposals"."trigger" is 'Whether the record is to be changed (update) or deleted (delete).';`,
    );
    this.addSql(
      `comment on column "file_proposals"."domain" is 'Names of the proposed fields, sorted and separated by commas; empty for a deletion.';`,
    );
    this.addSql(`comment on column "file_proposals"."changes" is 'Proposed values by field.';`);
    this.addSql(
      `comment on column "file_proposals"."base_values" is 'Values of these fields when the change was proposed.';`,
    );
    this.addSql(
      `comment on column "file_proposals"."hash" is 'SHA-256 of the proposed values, in hexadecimal: a decision names the values that it is about.';`,
    );
    this.addSql(
      `comment on column "file_proposals"."revision" is 'Number of the submission, from 1; each change of the proposal is a new one.';`,
    );
    this.addSql(`comment on column "file_proposals"."status" is 'Status.';`);
    this.addSql(
      `comment on column "file_proposals"."submitter_id" is 'Person who proposes the change; null for a program.';`,
    );
    this.addSql(
      `comment on column "file_proposals"."submitter_token_id" is 'Id of the token with which the change was made; null without one.';`,
    );
    this.addSql(
      `comment on column "file_proposals"."submitted_at" is 'When it was last submitted; null for a draft.';`,
    );
    this.addSql(`comment on column "file_proposals"."ended_at" is 'When it ended; null while it is open.';`);
    this.addSql(
      `comment on column "file_proposals"."reason_code" is 'Code of the error with which an approved change was refused, or of the end.';`,
    );
    this.addSql(`comment on column "file_proposals"."reason" is 'Why it ended so, as text for people.';`);
    this.addSql(
      `comment on column "file_proposals"."open_key" is 'Ids of record and definition while it is open: a definition has one open proposal for a record.';`,
    );
    this.addSql(`create index "file_proposals_file_id_index" on "file_proposals" ("file_id");`);
    this.addSql(`create index "file_proposals_definition_id_index" on "file_proposals" ("definition_id");`);
    this.addSql(
      `create index "file_proposals_organization_id_id_index" on "file_proposals" ("organization_id", "id") where deleted_at is null;`,
    );
    this.addSql(
      `create index "file_proposals_organization_id_file_id_id_index" on "file_proposals" ("organization_id", "file_id", "id") where deleted_at is null;`,
    );
    this.addSql(
      `create index "file_proposals_organization_id_definition_id_id_index" on "file_proposals" ("organization_id", "definition_id", "id") where deleted_at is null;`,
    );
    this.addSql(
      `create index "file_proposals_organization_id_instance_id_id_index" on "file_proposals" ("organization_id", "instance_id", "id") where deleted_at is null;`,
    );
    this.addSql(
      `create index "file_proposals_organization_id_trigger_id_index" on "file_proposals" ("organization_id", "trigger", "id") where deleted_at is null;`,
    );
    this.addSql(
      `create index "file_proposals_organization_id_status_id_index" on "file_proposals" ("organization_id", "status", "id") where deleted_at is null;`,
    );
    this.addSql(
      `create index "file_proposals_organization_id_submitter_id_id_index" on "file_proposals" ("organization_id", "submitter_id", "id") where deleted_at is null;`,
    );
    this.addSql(
      `create index "file_proposals_organization_id_ended_at_id_index" on "file_proposals" ("organization_id", "ended_at", "id") where deleted_at is null;`,
    );
    this.addSql(
      `create index "file_proposals_organization_id_submitted_at_id_index" on "file_proposals" ("organization_id", "submitted_at", "id") where deleted_at is null;`,
    );
    this.addSql(
      `create index "file_proposals_organization_id_created_at_id_index" on "file_proposals" ("organization_id", "created_at", "id") where deleted_at is null;`,
    );
    this.addSql(
      `create index "file_proposals_organization_id_updated_at_id_index" on "file_proposals" ("organization_id", "updated_at", "id") where deleted_at is null;`,
    );
    this.addSql(
      `create index "file_proposals_organization_id_submitted_at_descending" on "file_proposals" (organization_id, submitted_at desc nulls last, id desc) where deleted_at is null;`,
    );
    this.addSql(
      `create index "file_proposals_organization_id_ended_at_descending" on "file_proposals" (organization_id, ended_at desc nulls last, id desc) where deleted_at is null;`,
    );
    this.addSql(
      `create index "file_proposals_instance_id_index" on "file_proposals" ("instance_id") where instance_id is not null;`,
    );
    this.addSql(
      `create index "file_proposals_submitter_id_index" on "file_proposals" ("submitter_id") where submitter_id is not null;`,
    );
    this.addSql(
      `create unique index "file_proposals_open_key_key" on "file_proposals" ("open_key") where deleted_at is null;`,
    );

    this.addSql(
      `create table "api_token_proposals" ("id" text not null, "created_at" timestamptz not null, "updated_at" timestamptz not null, "created_by" text not null, "updated_by" text not null, "record_version" integer not null, "deleted_at" timestamptz null, "deleted_by" text null, "organization_id" text not null, "api_token_id" text not null, "definition_id" text not null, "instance_id" text null, "trigger" text not null, "domain" text not null, "changes" jsonb not null, "base_values" jsonb not null, "hash" text not null, "revision" integer not null, "status" text not null, "submitter_id" text null, "submitter_token_id" text null, "submitted_at" timestamptz null, "ended_at" timestamptz null, "reason_code" text null, "reason" text null, "open_key" text null, primary key ("id"));`,
    );
    this.addSql(
      `comment on table "api_token_proposals" is 'Change or deletion of one api token that waits for approvals.';`,
    );
    this.addSql(
      `comment on column "api_token_proposals"."api_token_id" is 'Record that changes when the proposal is approved.';`,
    );
    this.addSql(
      `comment on column "api_token_proposals"."definition_id" is 'Definition of the workflow that holds the change.';`,
    );
    this.addSql(
      `comment on column "api_token_proposals"."instance_id" is 'Workflow that decides; null before the first submission.';`,
    );
    this.addSql(
      `comment on column "api_token_proposals"."trigger" is 'Whether the record is to be changed (update) or deleted (delete).';`,
    );
    this.addSql(
      `comment on column "api_token_proposals"."domain" is 'Names of the proposed fields, sorted and separated by commas; empty for a deletion.';`,
    );
    this.addSql(`comment on column "api_token_proposals"."changes" is 'Proposed values by field.';`);
    this.addSql(
      `comment on column "api_token_proposals"."base_values" is 'Values of these fields when the change was proposed.';`,
    );
    this.addSql(
      `comment on column "api_token_proposals"."hash" is 'SHA-256 of the proposed values, in hexadecimal: a decision names the values that it is about.';`,
    );
    this.addSql(
      `comment on column "api_token_proposals"."revision" is 'Number of the submission, from 1; each change of the proposal is a new one.';`,
    );
    this.addSql(`comment on column "api_token_proposals"."status" is 'Status.';`);
    this.addSql(
      `comment on column "api_token_proposals"."submitter_id" is 'Person who proposes the change; null for a program.';`,
    );
    this.addSql(
      `comment on column "api_token_proposals"."submitter_token_id" is 'Id of the token with which the change was made; null without one.';`,
    );
    this.addSql(
      `comment on column "api_token_proposals"."submitted_at" is 'When it was last submitted; null for a draft.';`,
    );
    this.addSql(`comment on column "api_token_proposals"."ended_at" is 'When it ended; null while it is open.';`);
    this.addSql(
      `comment on column "api_token_proposals"."reason_code" is 'Code of the error with which an approved change was refused, or of the end.';`,
    );
    this.addSql(`comment on column "api_token_proposals"."reason" is 'Why it ended so, as text for people.';`);
    this.addSql(
      `comment on column "api_token_proposals"."open_key" is 'Ids of record and definition while it is open: a definition has one open proposal for a record.';`,
    );
    this.addSql(`create index "api_token_proposals_api_token_id_index" on "api_token_proposals" ("api_token_id");`);
    this.addSql(`create index "api_token_proposals_definition_id_index" on "api_token_proposals" ("definition_id");`);
    this.addSql(
      `create index "api_token_proposals_organization_id_id_index" on "api_token_proposals" ("organization_id", "id") where deleted_at is null;`,
    );
    this.addSql(
      `create index "api_token_proposals_organization_id_api_token_id_id_index" on "api_token_proposals" ("organization_id", "api_token_id", "id") where deleted_at is null;`,
    );
    this.addSql(
      `create index "api_token_proposals_organization_id_definition_id_id_index" on "api_token_proposals" ("organization_id", "definition_id", "id") where deleted_at is null;`,
    );
    this.addSql(
      `create index "api_token_proposals_organization_id_instance_id_id_index" on "api_token_proposals" ("organization_id", "instance_id", "id") where deleted_at is null;`,
    );
    this.addSql(
      `create index "api_token_proposals_organization_id_trigger_id_index" on "api_token_proposals" ("organization_id", "trigger", "id") where deleted_at is null;`,
    );
    this.addSql(
      `create index "api_token_proposals_organization_id_status_id_index" on "api_token_proposals" ("organization_id", "status", "id") where deleted_at is null;`,
    );
    this.addSql(
      `create index "api_token_proposals_organization_id_submitter_id_id_index" on "api_token_proposals" ("organization_id", "submitter_id", "id") where deleted_at is null;`,
    );
    this.addSql(
      `create index "api_token_proposals_organization_id_ended_at_id_index" on "api_token_proposals" ("organization_id", "ended_at", "id") where deleted_at is null;`,
    );
    this.addSql(
      `create index "api_token_proposals_organization_id_submitted_at_id_index" on "api_token_proposals" ("organization_id", "submitted_at", "id") where deleted_at is null;`,
    );
    this.addSql(
      `create index "api_token_proposals_organization_id_created_at_id_index" on "api_token_proposals" ("organization_id", "created_at", "id") where deleted_at is null;`,
    );
    this.addSql(
      `create index "api_token_proposals_organization_id_updated_at_id_index" on "api_token_proposals" ("organization_id", "updated_at", "id") where deleted_at is null;`,
    );
    this.addSql(
      `create index "api_token_proposals_organization_id_submitted_at_descending" on "api_token_proposals" (organization_id, submitted_at desc nulls last, id desc) where deleted_at is null;`,
    );
    this.addSql(
      `create index "api_token_proposals_organization_id_ended_at_descending" on "api_token_proposals" (organization_id, ended_at desc nulls last, id desc) where deleted_at is null;`,
    );
    this.addSql(
      `create index "api_token_proposals_instance_id_index" on "api_token_proposals" ("instance_id") where instance_id is not null;`,
    );
    this.addSql(
      `create index "api_token_proposals_submitter_id_index" on "api_token_proposals" ("submitter_id") where submitter_id is not null;`,
    );
    this.addSql(
      `create unique index "api_token_proposals_open_key_key" on "api_token_proposals" ("open_key") where deleted_at is null;`,
    );

    this.addSql(
      `comment on column "organizations"."is_archived" is 'Whether all changes in the organization are refused until this is taken back. People can leave it, what admits people or programs can be deleted, and its deletion can be announced.';`,
    );

    this.addSql(
      `alter table "webhook_endpoint_proposals" add constraint "webhook_endpoint_proposals_organization_id_foreign" foreign key ("organization_id") references "organizations" ("id") on update no action on delete restrict;`,
    );
    this.addSql(
      `alter table "webhook_endpoint_proposals" add constraint "webhook_endpoint_proposals_webhook_endpoint_id_foreign" foreign key ("webhook_endpoint_id") references "webhook_endpoints" ("id") on update no action on delete restrict;`,
    );
    this.addSql(
      `alter table "webhook_endpoint_proposals" add constraint "webhook_endpoint_proposals_definition_id_foreign" foreign key ("definition_id") references "workflow_definitions" ("id") on update no action on delete restrict;`,
    );
    this.addSql(
      `alter table "webhook_endpoint_proposals" add constraint "webhook_endpoint_proposals_instance_id_foreign" foreign key ("instance_id") references "workflow_instances" ("id") on update no action on delete restrict;`,
    );
    this.addSql(
      `alter table "webhook_endpoint_proposals" add constraint "webhook_endpoint_proposals_submitter_id_foreign" foreign key ("submitter_id") references "users" ("id") on update no action on delete restrict;`,
    );
    this.addSql(
      `alter table "webhook_endpoint_proposals" add constraint "webhook_endpoint_proposals_trigger_check" check (trigger in ('update', 'delete'));`,
    );
    this.addSql(
      `alter table "webhook_endpoint_proposals" add constraint "webhook_endpoint_proposals_status_check" check (status in ('draft', 'submitted', 'applied', 'rejected', 'withdrawn'));`,
    );
    this.addSql(`alter table "webhook_endpoint_proposals" enable row level security;`);
    this.addSql(
      `create policy "webhook_endpoint_proposals_app" on "webhook_endpoint_proposals" to "core_app" using (organization_id = current_setting('core.organization_id', true)) with check (organization_id = current_setting('core.organization_id', true));`,
    );
    this.addSql(
      `create policy "webhook_endpoint_proposals_system" on "webhook_endpoint_proposals" to "core_system" using (coalesce(current_setting('core.organization_id', true), '') = '' or organization_id = current_setting('core.organization_id', true)) with check (coalesce(current_setting('core.organization_id', true), '') = '' or organization_id = current_setting('core.organization_id', true));`,
    );

    this.addSql(
      `alter table "task_proposals" add constraint "task_proposals_organization_id_foreign" foreign key ("organization_id") references "organizations" ("id") on update no action on delete restrict;`,
    );
    this.addSql(
      `alter table "task_proposals" add constraint "task_proposals_task_id_foreign" foreign key ("task_id") references "tasks" ("id") on update no action on delete restrict;`,
    );
    this.addSql(
      `alter table "task_proposals" add constraint "task_proposals_definition_id_foreign" foreign key ("definition_id") references "workflow_definitions" ("id") on update no action on delete restrict;`,
    );
    this.addSql(
      `alter table "task_proposals" add constraint "task_proposals_instance_id_foreign" foreign key ("instance_id") references "workflow_instances" ("id") on update no action on delete restrict;`,
    );
    this.addSql(
      `alter table "task_proposals" add constraint "task_proposals_submitter_id_foreign" foreign key ("submitter_id") references "users" ("id") on update no action on delete restrict;`,
    );
    this.addSql(
      `alter table "task_proposals" add constraint "task_proposals_trigger_check" check (trigger in ('update', 'delete'));`,
    );
    this.addSql(
      `alter table "task_proposals" add constraint "task_proposals_status_check" check (status in ('draft', 'submitted', 'applied', 'rejected', 'withdrawn'));`,
    );
    this.addSql(`alter table "task_proposals" enable row level security;`);
    this.addSql(
      `create policy "task_proposals_app" on "task_proposals" to "core_app" using (organization_id = current_setting('core.organization_id', true)) with check (organization_id = current_setting('core.organization_id', true));`,
    );
    this.addSql(
      `create policy "task_proposals_system" on "task_proposals" to "core_system" using (coalesce(current_setting('core.organization_id', true), '') = '' or organization_id = current_setting('core.organization_id', true)) with check (coalesce(current_setting('core.organization_id', true), '') = '' or organization_id = current_setting('core.organization_id', true));`,
    );

    this.addSql(
      `alter table "organization_setting_proposals" add constraint "organization_setting_proposals_organization_id_foreign" foreign key ("organization_id") references "organizations" ("id") on update no action on delete restrict;`,
    );
    this.addSql(
      `alter table "organization_setting_proposals" add constraint "organization_setting_proposals_organization_setting_id_foreign" foreign key ("organization_setting_id") references "organization_settings" ("id") on update no action on delete restrict;`,
    );
    this.addSql(
      `alter table "organization_setting_proposals" add constraint "organization_setting_proposals_definition_id_foreign" foreign key ("definition_id") references "workflow_definitions" ("id") on update no action on delete restrict;`,
    );
    this.addSql(
      `alter table "organization_setting_proposals" add constraint "organization_setting_proposals_instance_id_foreign" foreign key ("instance_id") references "workflow_instances" ("id") on update no action on delete restrict;`,
    );
    this.addSql(
      `alter table "organization_setting_proposals" add constraint "organization_setting_proposals_submitter_id_foreign" foreign key ("submitter_id") references "users" ("id") on update no action on delete restrict;`,
    );
    this.addSql(
      `alter table "organization_setting_proposals" add constraint "organization_setting_proposals_trigger_check" check (trigger in ('update', 'delete'));`,
    );
    this.addSql(
      `alter table "organization_setting_proposals" add constraint "organization_setting_proposals_status_check" check (status in ('draft', 'submitted', 'applied', 'rejected', 'withdrawn'));`,
    );
    this.addSql(`alter table "organization_setting_proposals" enable row level security;`);
    this.addSql(
      `create policy "organization_setting_proposals_app" on "organization_setting_proposals" to "core_app" using (organization_id = current_setting('core.organization_id', true)) with check (organization_id = current_setting('core.organization_id', true));`,
    );
    this.addSql(
      `create policy "organization_setting_proposals_system" on "organization_setting_proposals" to "core_system" using (coalesce(current_setting('core.organization_id', true), '') = '' or organization_id = current_setting('core.organization_id', true)) with check (coalesce(current_setting('core.organization_id', true), '') = '' or organization_id = current_setting('core.organization_id', true));`,
    );

    this.addSql(
      `alter table "membership_proposals" add constraint "membership_proposals_organization_id_foreign" foreign key ("organization_id") references "organizations" ("id") on update no action on delete restrict;`,
    );
    this.addSql(
      `alter table "membership_proposals" add constraint "membership_proposals_membership_id_foreign" foreign key ("membership_id") references "memberships" ("id") on update no action on delete restrict;`,
    );
    this.addSql(
      `alter table "membership_proposals" add constraint "membership_proposals_definition_id_foreign" foreign key ("definition_id") references "workflow_definitions" ("id") on update no action on delete restrict;`,
    );
    this.addSql(
      `alter table "membership_proposals" add constraint "membership_proposals_instance_id_foreign" foreign key ("instance_id") references "workflow_instances" ("id") on update no action on delete restrict;`,
    );
    this.addSql(
      `alter table "membership_proposals" add constraint "membership_proposals_submitter_id_foreign" foreign key ("submitter_id") references "users" ("id") on update no action on delete restrict;`,
    );
    this.addSql(
      `alter table "membership_proposals" add constraint "membership_proposals_trigger_check" check (trigger in ('update', 'delete'));`,
    );
    this.addSql(
      `alter table "membership_proposals" add constraint "membership_proposals_status_check" check (status in ('draft', 'submitted', 'applied', 'rejected', 'withdrawn'));`,
    );
    this.addSql(`alter table "membership_proposals" enable row level security;`);
    this.addSql(
      `create policy "membership_proposals_app" on "membership_proposals" to "core_app" using (organization_id = current_setting('core.organization_id', true)) with check (organization_id = current_setting('core.organization_id', true));`,
    );
    this.addSql(
      `create policy "membership_proposals_system" on "membership_proposals" to "core_system" using (coalesce(current_setting('core.organization_id', true), '') = '' or organization_id = current_setting('core.organization_id', true)) with check (coalesce(current_setting('core.organization_id', true), '') = '' or organization_id = current_setting('core.organization_id', true));`,
    );

    this.addSql(
      `alter table "identity_provider_proposals" add constraint "identity_provider_proposals_organization_id_foreign" foreign key ("organization_id") references "organizations" ("id") on update no action on delete restrict;`,
    );
    this.addSql(
      `alter table "identity_provider_proposals" add constraint "identity_provider_proposals_identity_provider_id_foreign" foreign key ("identity_provider_id") references "identity_providers" ("id") on update no action on delete restrict;`,
    );
    this.addSql(
      `alter table "identity_provider_proposals" add constraint "identity_provider_proposals_definition_id_foreign" foreign key ("definition_id") references "workflow_definitions" ("id") on update no action on delete restrict;`,
    );
    this.addSql(
      `alter table "identity_provider_proposals" add constraint "identity_provider_proposals_instance_id_foreign" foreign key ("instance_id") references "workflow_instances" ("id") on update no action on delete restrict;`,
    );
    this.addSql(
      `alter table "identity_provider_proposals" add constraint "identity_provider_proposals_submitter_id_foreign" foreign key ("submitter_id") references "users" ("id") on update no action on delete restrict;`,
    );
    this.addSql(
      `alter table "identity_provider_proposals" add constraint "identity_provider_proposals_trigger_check" check (trigger in ('update', 'delete'));`,
    );
    this.addSql(
      `alter table "identity_provider_proposals" add constraint "identity_provider_proposals_status_check" check (status in ('draft', 'submitted', 'applied', 'rejected', 'withdrawn'));`,
    );
    this.addSql(`alter table "identity_provider_proposals" enable row level security;`);
    this.addSql(
      `create policy "identity_provider_proposals_app" on "identity_provider_proposals" to "core_app" using (organization_id = current_setting('core.organization_id', true)) with check (organization_id = current_setting('core.organization_id', true));`,
    );
    this.addSql(
      `create policy "identity_provider_proposals_system" on "identity_provider_proposals" to "core_system" using (coalesce(current_setting('core.organization_id', true), '') = '' or organization_id = current_setting('core.organization_id', true)) with check (coalesce(current_setting('core.organization_id', true), '') = '' or organization_id = current_setting('core.organization_id', true));`,
    );

    this.addSql(
      `alter table "group_membership_proposals" add constraint "group_membership_proposals_organization_id_foreign" foreign key ("organization_id") references "organizations" ("id") on update no action on delete restrict;`,
    );
    this.addSql(
      `alter table "group_membership_proposals" add constraint "group_membership_proposals_group_membership_id_foreign" foreign key ("group_membership_id") references "group_memberships" ("id") on update no action on delete restrict;`,
    );
    this.addSql(
      `alter table "group_membership_proposals" add constraint "group_membership_proposals_definition_id_foreign" foreign key ("definition_id") references "workflow_definitions" ("id") on update no action on delete restrict;`,
    );
    this.addSql(
      `alter table "group_membership_proposals" add constraint "group_membership_proposals_instance_id_foreign" foreign key ("instance_id") references "workflow_instances" ("id") on update no action on delete restrict;`,
    );
    this.addSql(
      `alter table "group_membership_proposals" add constraint "group_membership_proposals_submitter_id_foreign" foreign key ("submitter_id") references "users" ("id") on update no action on delete restrict;`,
    );
    this.addSql(
      `alter table "group_membership_proposals" add constraint "group_membership_proposals_trigger_check" check (trigger in ('update', 'delete'));`,
    );
    this.addSql(
      `alter table "group_membership_proposals" add constraint "group_membership_proposals_status_check" check (status in ('draft', 'submitted', 'applied', 'rejected', 'withdrawn'));`,
    );
    this.addSql(`alter table "group_membership_proposals" enable row level security;`);
    this.addSql(
      `create policy "group_membership_proposals_app" on "group_membership_proposals" to "core_app" using (organization_id = current_setting('core.organization_id', true)) with check (organization_id = current_setting('core.organization_id', true));`,
    );
    this.addSql(
      `create policy "group_membership_proposals_system" on "group_membership_proposals" to "core_system" using (coalesce(current_setting('core.organization_id', true), '') = '' or organization_id = current_setting('core.organization_id', true)) with check (coalesce(current_setting('core.organization_id', true), '') = '' or organization_id = current_setting('core.organization_id', true));`,
    );

    this.addSql(
      `alter table "file_proposals" add constraint "file_proposals_organization_id_foreign" foreign key ("organization_id") references "organizations" ("id") on update no action on delete restrict;`,
    );
    this.addSql(
      `alter table "file_proposals" add constraint "file_proposals_file_id_foreign" foreign key ("file_id") references "files" ("id") on update no action on delete restrict;`,
    );
    this.addSql(
      `alter table "file_proposals" add constraint "file_proposals_definition_id_foreign" foreign key ("definition_id") references "workflow_definitions" ("id") on update no action on delete restrict;`,
    );
    this.addSql(
      `alter table "file_proposals" add constraint "file_proposals_instance_id_foreign" foreign key ("instance_id") references "workflow_instances" ("id") on update no action on delete restrict;`,
    );
    this.addSql(
      `alter table "file_proposals" add constraint "file_proposals_submitter_id_foreign" foreign key ("submitter_id") references "users" ("id") on update no action on delete restrict;`,
    );
    this.addSql(
      `alter table "file_proposals" add constraint "file_proposals_trigger_check" check (trigger in ('update', 'delete'));`,
    );
    this.addSql(
      `alter table "file_proposals" add constraint "file_proposals_status_check" check (status in ('draft', 'submitted', 'applied', 'rejected', 'withdrawn'));`,
    );
    this.addSql(`alter table "file_proposals" enable row level security;`);
    this.addSql(
      `create policy "file_proposals_app" on "file_proposals" to "core_app" using (organization_id = current_setting('core.organization_id', true)) with check (organization_id = current_setting('core.organization_id', true));`,
    );
    this.addSql(
      `create policy "file_proposals_system" on "file_proposals" to "core_system" using (coalesce(current_setting('core.organization_id', true), '') = '' or organization_id = current_setting('core.organization_id', true)) with check (coalesce(current_setting('core.organization_id', true), '') = '' or organization_id = current_setting('core.organization_id', true));`,
    );

    this.addSql(
      `alter table "api_token_proposals" add constraint "api_token_proposals_organization_id_foreign" foreign key ("organization_id") references "organizations" ("id") on update no action on delete restrict;`,
    );
    this.addSql(
      `alter table "api_token_proposals" add constraint "api_token_proposals_api_token_id_foreign" foreign key ("api_token_id") references "api_tokens" ("id") on update no action on delete restrict;`,
    );
    this.addSql(
      `alter table "api_token_proposals" add constraint "api_token_proposals_definition_id_foreign" foreign key ("definition_id") references "workflow_definitions" ("id") on update no action on delete restrict;`,
    );
    this.addSql(
      `alter table "api_token_proposals" add constraint "api_token_proposals_instance_id_foreign" foreign key ("instance_id") references "workflow_instances" ("id") on update no action on delete restrict;`,
    );
    this.addSql(
      `alter table "api_token_proposals" add constraint "api_token_proposals_submitter_id_foreign" foreign key ("submitter_id") references "users" ("id") on update no action on delete restrict;`,
    );
    this.addSql(
      `alter table "api_token_proposals" add constraint "api_token_proposals_trigger_check" check (trigger in ('update', 'delete'));`,
    );
    this.addSql(
      `alter table "api_token_proposals" add constraint "api_token_proposals_status_check" check (status in ('draft', 'submitted', 'applied', 'rejected', 'withdrawn'));`,
    );
    this.addSql(`alter table "api_token_proposals" enable row level security;`);
    this.addSql(
      `create policy "api_token_proposals_app" on "api_token_proposals" to "core_app" using (organization_id = current_setting('core.organization_id', true)) with check (organization_id = current_setting('core.organization_id', true));`,
    );
    this.addSql(
      `create policy "api_token_proposals_system" on "api_token_proposals" to "core_system" using (coalesce(current_setting('core.organization_id', true), '') = '' or organization_id = current_setting('core.organization_id', true)) with check (coalesce(current_setting('core.organization_id', true), '') = '' or organization_id = current_setting('core.organization_id', true));`,
    );
  }

  override down(): void | Promise<void> {
    this.addSql(`drop table if exists "webhook_endpoint_proposals" cascade;`);
    this.addSql(`drop table if exists "task_proposals" cascade;`);
    this.addSql(`drop table if exists "organization_setting_proposals" cascade;`);
    this.addSql(`drop table if exists "membership_proposals" cascade;`);
    this.addSql(`drop table if exists "identity_provider_proposals" cascade;`);
    this.addSql(`drop table if exists "group_membership_proposals" cascade;`);
    this.addSql(`drop table if exists "file_proposals" cascade;`);
    this.addSql(`drop table if exists "api_token_proposals" cascade;`);

    this.addSql(
      `comment on column "organizations"."is_archived" is 'Whether all changes in the organization are refused until this is taken back. People can leave it, and what admits people or programs can be deleted.';`,
    );
  }
}

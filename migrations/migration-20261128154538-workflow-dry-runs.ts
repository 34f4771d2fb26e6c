import { Migration } from '@mikro-orm/migrations';

export class Migration20261128154538WorkflowDryRuns extends Migration {
  override up(): void | Promise<void> {
    this.addSql(
      `create table "workflow_dry_runs" ("id" text not null, "created_at" timestamptz not null, "updated_at" timestamptz not null, "created_by" text not null, "updated_by" text not null, "record_version" integer not null, "deleted_at" timestamptz null, "deleted_by" text null, "organization_id" text not null, "definition_id" text not null, "record_kind" text not null, "document" jsonb not null, "days" integer not null, "status" text not null, "total_changes" integer not null, "read_changes" integer not null, "starts" integer not null, "failures" integer not null, "cost" text not null, "report" jsonb null, "position" jsonb null, "error_message" text null, "finished_at" timestamptz null, "creator_id" text null, primary key ("id"));`,
    );
    this.addSql(
      `comment on table "workflow_dry_runs" is 'Trial of a workflow definition over past changes: which of them it would have started for, and who would have been asked. It changes nothing.';`,
    );
    this.addSql(`comment on column "workflow_dry_runs"."definition_id" is 'Definition that is tried.';`);
    this.addSql(`comment on column "workflow_dry_runs"."record_kind" is 'Kind of the records, such as \`task\`.';`);
    this.addSql(
      `comment on column "workflow_dry_runs"."document" is 'Document that is tried: the draft at the time of the request.';`,
    );
    this.addSql(`comment on column "workflow_dry_runs"."days" is 'Days of history that it looks at.';`);
    this.addSql(`comment on column "workflow_dry_runs"."status" is 'Status of the work.';`);
    this.addSql(`comment on column "workflow_dry_runs"."total_changes" is 'Number of changes in this time.';`);
    this.addSql(
      `comment on column "workflow_dry_runs"."read_changes" is 'Number of changes that it has looked at so far.';`,
    );
    this.addSql(
      `comment on column "workflow_dry_runs"."starts" is 'Number of changes for which the definition would have started.';`,
    );
    this.addSql(
      `comment on column "workflow_dry_runs"."failures" is 'Number of changes of which it is not known whether it would have started, because an expression failed.';`,
    );
    this.addSql(
      `comment on column "workflow_dry_runs"."cost" is 'Cost of all expressions so far, in the units of workflows.cel.costlimit.';`,
    );
    this.addSql(
      `comment on column "workflow_dry_runs"."report" is 'Result: the first starts and failures with their records, and how often each person would have been asked.';`,
    );
    this.addSql(`comment on column "workflow_dry_runs"."position" is 'Last change that it has looked at.';`);
    this.addSql(`comment on column "workflow_dry_runs"."error_message" is 'Why it failed, as text for people.';`);
    this.addSql(`comment on column "workflow_dry_runs"."finished_at" is 'When it was completed, or failed.';`);
    this.addSql(`comment on column "workflow_dry_runs"."creator_id" is 'Person who asked for it.';`);
    this.addSql(`create index "workflow_dry_runs_definition_id_index" on "workflow_dry_runs" ("definition_id");`);
    this.addSql(
      `create index "workflow_dry_runs_organization_id_id_index" on "workflow_dry_runs" ("organization_id", "id") where deleted_at is null;`,
    );
    this.addSql(
      `create index "workflow_dry_runs_organization_id_definition_id_id_index" on "workflow_dry_runs" ("organization_id", "definition_id", "id") where deleted_at is null;`,
    );
    this.addSql(
      `create index "workflow_dry_runs_organization_id_record_kind_id_index" on "workflow_dry_runs" ("organization_id", "record_kind", "id") where deleted_at is null;`,
    );
    this.addSql(
      `create index "workflow_dry_runs_organization_id_status_id_index" on "workflow_dry_runs" ("organization_id", "status", "id") where deleted_at is null;`,
    );
    this.addSql(
      `create index "workflow_dry_runs_organization_id_creator_id_id_index" on "workflow_dry_runs" ("organization_id", "creator_id", "id") where deleted_at is null;`,
    );
    this.addSql(
      `create index "workflow_dry_runs_organization_id_total_changes_id_index" on "workflow_dry_runs" ("organization_id", "total_changes", "id") where deleted_at is null;`,
    );
    this.addSql(
      `create index "workflow_dry_runs_organization_id_read_changes_id_index" on "workflow_dry_runs" ("organization_id", "read_changes", "id") where deleted_at is null;`,
    );
    this.addSql(
      `create index "workflow_dry_runs_organization_id_starts_id_index" on "workflow_dry_runs" ("organization_id", "starts", "id") where deleted_at is null;`,
    );
    this.addSql(
      `create index "workflow_dry_runs_organization_id_failures_id_index" on "workflow_dry_runs" ("organization_id", "failures", "id") where deleted_at is null;`,
    );
    this.addSql(
      `create index "workflow_dry_runs_organization_id_created_at_id_index" on "workflow_dry_runs" ("organization_id", "created_at", "id") where deleted_at is null;`,
    );
    this.addSql(
      `create index "workflow_dry_runs_organization_id_updated_at_id_index" on "workflow_dry_runs" ("organization_id", "updated_at", "id") where deleted_at is null;`,
    );
    this.addSql(
      `create index "workflow_dry_runs_record_kind_beginning" on "workflow_dry_runs" (organization_id, (left(matched_form(record_kind), 100) collate "C")) where deleted_at is null;`,
    );
    this.addSql(
      `create index "workflow_dry_runs_creator_id_index" on "workflow_dry_runs" ("creator_id") where creator_id is not null;`,
    );

    this.addSql(
      `alter table "workflow_dry_runs" add constraint "workflow_dry_runs_organization_id_foreign" foreign key ("organization_id") references "organizations" ("id") on update no action on delete restrict;`,
    );
    this.addSql(
      `alter table "workflow_dry_runs" add constraint "workflow_dry_runs_definition_id_foreign" foreign key ("definition_id") references "workflow_definitions" ("id") on update no action on delete restrict;`,
    );
    this.addSql(
      `alter table "workflow_dry_runs" add constraint "workflow_dry_runs_creator_id_foreign" foreign key ("creator_id") references "users" ("id") on update no action on delete restrict;`,
    );
    this.addSql(
      `alter table "workflow_dry_runs" add constraint "workflow_dry_runs_status_check" check (status in ('running', 'completed', 'failed'));`,
    );
    this.addSql(`alter table "workflow_dry_runs" enable row level security;`);
    this.addSql(
      `create policy "workflow_dry_runs_app" on "workflow_dry_runs" to "core_app" using (organization_id = current_setting('core.organization_id', true)) with check (organization_id = current_setting('core.organization_id', true));`,
    );
    this.addSql(
      `create policy "workflow_dry_runs_system" on "workflow_dry_runs" to "core_system" using (coalesce(current_setting('core.organization_id', true), '') = '' or organization_id = current_setting('core.organization_id', true)) with check (coalesce(current_setting('core.organization_id', true), '') = '' or organization_id = current_setting('core.organization_id', true));`,
    );
  }

  override down(): void | Promise<void> {
    this.addSql(`drop table if exists "workflow_dry_runs" cascade;`);
  }
}

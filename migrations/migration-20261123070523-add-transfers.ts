import { Migration } from '@mikro-orm/migrations';

export class Migration20261123070523AddTransfers extends Migration {
  override up(): void | Promise<void> {
    this.addSql(
      `create table "imports" ("id" text not null, "created_at" timestamptz not null, "updated_at" timestamptz not null, "created_by" text not null, "updated_by" text not null, "record_version" integer not null, "deleted_at" timestamptz null, "deleted_by" text null, "organization_id" text not null, "record_kind" text not null, "action" text not null, "content" text not null, "status" text not null, "problems" jsonb null, "done_rows" bigint not null, "total_rows" bigint null, "error_code" text null, "error_message" text null, "finished_at" timestamptz null, "requestor_id" text null, "run_id" text null, primary key ("id"));`,
    );
    this.addSql(
      `comment on table "imports" is 'CSV document from which the server creates or changes records of one kind: all of them or none, with the rights of the person who started it.';`,
    );
    this.addSql(`comment on column "imports"."record_kind" is 'Kind of the records, such as \`task\`.';`);
    this.addSql(
      `comment on column "imports"."action" is 'Whether the document creates records, or changes those that its rows name.';`,
    );
    this.addSql(`comment on column "imports"."content" is 'The document, in the format of \`createBulkCSV…\`.';`);
    this.addSql(`comment on column "imports"."status" is 'Status of the work.';`);
    this.addSql(
      `comment on column "imports"."problems" is 'What is wrong with the document: up to 100 messages with line and column, in the order of the lines.';`,
    );
    this.addSql(`comment on column "imports"."done_rows" is 'Number of records that are checked or written so far.';`);
    this.addSql(
      `comment on column "imports"."total_rows" is 'Number of records of the whole work; null until it is known.';`,
    );
    this.addSql(
      `comment on column "imports"."error_code" is 'Code of the error with which the work failed; /docs/errors lists all codes.';`,
    );
    this.addSql(`comment on column "imports"."error_message" is 'Why the work failed.';`);
    this.addSql(`comment on column "imports"."finished_at" is 'When the work ended, in whatever way.';`);
    this.addSql(`comment on column "imports"."requestor_id" is 'Person who started the work.';`);
    this.addSql(`comment on column "imports"."run_id" is 'Id of the workflow run that does the work.';`);
    this.addSql(
      `create index "imports_organization_id_id_index" on "imports" ("organization_id", "id") where deleted_at is null;`,
    );
    this.addSql(
      `create index "imports_organization_id_record_kind_id_index" on "imports" ("organization_id", "record_kind", "id") where deleted_at is null;`,
    );
    this.addSql(
      `create index "imports_organization_id_action_id_index" on "imports" ("organization_id", "action", "id") where deleted_at is null;`,
    );
    this.addSql(
      `create index "imports_organization_id_status_id_index" on "imports" ("organization_id", "status", "id") where deleted_at is null;`,
    );
    this.addSql(
      `create index "imports_organization_id_created_at_id_index" on "imports" ("organization_id", "created_at", "id") where deleted_at is null;`,
    );
    this.addSql(
      `create index "imports_organization_id_updated_at_id_index" on "imports" ("organization_id", "updated_at", "id") where deleted_at is null;`,
    );
    this.addSql(
      `create index "imports_requestor_id_index" on "imports" ("requestor_id") where requestor_id is not null;`,
    );

    this.addSql(
      `create table "exports" ("id" text not null, "created_at" timestamptz not null, "updated_at" timestamptz not null, "created_by" text not null, "updated_by" text not null, "record_version" integer not null, "deleted_at" timestamptz null, "deleted_by" text null, "organization_id" text not null, "record_kind" text not null, "format" text not null, "fields" text[] not null, "filters" jsonb null, "order_by" text[] not null, "status" text not null, "content" text null, "expires_at" timestamptz null, "done_rows" bigint not null, "total_rows" bigint null, "error_code" text null, "error_message" text null, "finished_at" timestamptz null, "requestor_id" text null, "run_id" text null, primary key ("id"));`,
    );
    this.addSql(
      `comment on table "exports" is 'Document with records of one kind, which the server writes page by page with the rights that the person has at the time of each page.';`,
    );
    this.addSql(`comment on column "exports"."record_kind" is 'Kind of the records, such as \`task\`.';`);
    this.addSql(`comment on column "exports"."format" is 'Format of the document.';`);
    this.addSql(
      `comment on column "exports"."fields" is 'Fields of each record, in this order; empty for all that an import needs.';`,
    );
    this.addSql(
      `comment on column "exports"."filters" is 'Only records that match: the \`where\` of the list in GraphQL, with enum values in any case.';`,
    );
    this.addSql(
      `comment on column "exports"."order_by" is 'Fields by which the records are sorted, with a minus before those in descending order; then by id.';`,
    );
    this.addSql(`comment on column "exports"."status" is 'Status of the work; expired: the document was removed.';`);
    this.addSql(`comment on column "exports"."content" is 'The document, once it is complete, until it expires.';`);
    this.addSql(`comment on column "exports"."expires_at" is 'When the document is removed.';`);
    this.addSql(`comment on column "exports"."done_rows" is 'Number of records that are written so far.';`);
    this.addSql(
      `comment on column "exports"."total_rows" is 'Number of records of the whole work; null until it is known.';`,
    );
    this.addSql(
      `comment on column "exports"."error_code" is 'Code of the error with which the work failed; /docs/errors lists all codes.';`,
    );
    this.addSql(`comment on column "exports"."error_message" is 'Why the work failed.';`);
    this.addSql(`comment on column "exports"."finished_at" is 'When the work ended, in whatever way.';`);
    this.addSql(`comment on column "exports"."requestor_id" is 'Person who started the work.';`);
    this.addSql(`comment on column "exports"."run_id" is 'Id of the workflow run that does the work.';`);
    this.addSql(
      `create index "exports_organization_id_id_index" on "exports" ("organization_id", "id") where deleted_at is null;`,
    );
    this.addSql(
      `create index "exports_organization_id_record_kind_id_index" on "exports" ("organization_id", "record_kind", "id") where deleted_at is null;`,
    );
    this.addSql(
      `create index "exports_organization_id_format_id_index" on "exports" ("organization_id", "format", "id") where deleted_at is null;`,
    );
    this.addSql(
      `create index "exports_organization_id_status_id_index" on "exports" ("organization_id", "status", "id") where deleted_at is null;`,
    );
    this.addSql(
      `create index "exports_organization_id_created_at_id_index" on "exports" ("organization_id", "created_at", "id") where deleted_at is null;`,
    );
    this.addSql(
      `create index "exports_organization_id_updated_at_id_index" on "exports" ("organization_id", "updated_at", "id") where deleted_at is null;`,
    );
    this.addSql(
      `create index "exports_requestor_id_index" on "exports" ("requestor_id") where requestor_id is not null;`,
    );

    this.addSql(
      `alter table "imports" add constraint "imports_organization_id_foreign" foreign key ("organization_id") references "organizations" ("id") on update no action on delete restrict;`,
    );
    this.addSql(
      `alter table "imports" add constraint "imports_requestor_id_foreign" foreign key ("requestor_id") references "users" ("id") on update no action on delete restrict;`,
    );
    this.addSql(`alter table "imports" add constraint "imports_action_check" check (action in ('create', 'update'));`);
    this.addSql(
      `alter table "imports" add constraint "imports_status_check" check (status in ('pending', 'running', 'completed', 'failed', 'cancelled'));`,
    );
    this.addSql(`alter table "imports" enable row level security;`);
    this.addSql(
      `create policy "imports_app" on "imports" to "core_app" using (organization_id = current_setting('core.organization_id', true)) with check (organization_id = current_setting('core.organization_id', true));`,
    );
    this.addSql(
      `create policy "imports_system" on "imports" to "core_system" using (coalesce(current_setting('core.organization_id', true), '') = '' or organization_id = current_setting('core.organization_id', true)) with check (coalesce(current_setting('core.organization_id', true), '') = '' or organization_id = current_setting('core.organization_id', true));`,
    );

    this.addSql(
      `alter table "exports" add constraint "exports_organization_id_foreign" foreign key ("organization_id") references "organizations" ("id") on update no action on delete restrict;`,
    );
    this.addSql(
      `alter table "exports" add constraint "exports_requestor_id_foreign" foreign key ("requestor_id") references "users" ("id") on update no action on delete restrict;`,
    );
    this.addSql(`alter table "exports" add constraint "exports_format_check" check (format in ('csv', 'json'));`);
    this.addSql(
      `alter table "exports" add constraint "exports_status_check" check (status in ('pending', 'running', 'completed', 'failed', 'cancelled', 'expired'));`,
    );
    this.addSql(`alter table "exports" enable row level security;`);
    this.addSql(
      `create policy "exports_app" on "exports" to "core_app" using (organization_id = current_setting('core.organization_id', true)) with check (organization_id = current_setting('core.organization_id', true));`,
    );
    this.addSql(
      `create policy "exports_system" on "exports" to "core_system" using (coalesce(current_setting('core.organization_id', true), '') = '' or organization_id = current_setting('core.organization_id', true)) with check (coalesce(current_setting('core.organization_id', true), '') = '' or organization_id = current_setting('core.organization_id', true));`,
    );
  }

  override down(): void | Promise<void> {
    this.addSql(`drop table if exists "imports" cascade;`);
    this.addSql(`drop table if exists "exports" cascade;`);
  }
}

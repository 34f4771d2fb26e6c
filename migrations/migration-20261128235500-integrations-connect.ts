import { Migration } from '@mikro-orm/migrations';

/** Kinds of records that notifications were about before. */
const targets = [
  'task',
  'note',
  'webhook_endpoint',
  'export',
  'organization',
  'group',
  'workflow_definition',
  'workflow_instance',
  'workflow_assignment',
];

const quoted = (names: readonly string[]) => names.map((name) => `'${name}'`).join(', ');

export class Migration20261128235500IntegrationsConnect extends Migration {
  readonly locks = {
    integrations: 'An organization has few of them, so the table is small.',
    secrets: 'An organization has few of them, so the table is small.',
  };

  override up(): void | Promise<void> {
    this.addSql(
      `comment on column "notification_preferences"."channel" is 'Channel to which it applies. \`chat\` is the chat that the organization has connected (docs/integrations.md).';`,
    );
    // Sightings of a run, until it ends: ids of records, of which it removes all others, and digests of cursors, which do not repeat.
    this.addSql(
      `create table "integration_sightings" ("run_id" text not null, "kind" text not null, "key" text not null, primary key ("run_id", "kind", "key"));`,
    );
    this.addSql(`revoke all on table "integration_sightings" from core_app;`);
    this.addSql(`grant select, insert, delete on table "integration_sightings" to core_system;`);
    // When an account at another system takes the next request, for all processes.
    this.addSql(
      `create table "integration_account_rates" ("account" text not null, "free_at" timestamptz not null, primary key ("account"));`,
    );
    this.addSql(`revoke all on table "integration_account_rates" from core_app;`);
    this.addSql(`grant select, insert, update, delete on table "integration_account_rates" to core_system;`);
    this.addSql(
      `create table "integration_runs" ("id" text not null, "created_at" timestamptz not null, "updated_at" timestamptz not null, "created_by" text not null, "updated_by" text not null, "record_version" integer not null, "deleted_at" timestamptz null, "deleted_by" text null, "organization_id" text not null, "integration_id" text not null, "operation_name" text not null, "trigger" text not null, "status" text not null, "input" jsonb null, "result" jsonb null, "started_at" timestamptz null, "ended_at" timestamptz null, "read_records" integer not null, "created_records" integer not null, "updated_records" integer not null, "unchanged_records" integer not null, "filtered_records" integer not null, "failed_records" integer not null, "removed_records" integer not null, "pending_removals" integer not null, "failures" jsonb null, "error_code" text null, "error_message" text null, "cursor" text null, "pages" integer not null, "restarts" integer not null, "instance_id" text null, "open_key" text null, primary key ("id"));`,
    );
    this.addSql(
      `comment on table "integration_runs" is 'One execution of an operation of an integration, with its progress and its result.';`,
    );
    this.addSql(`comment on column "integration_runs"."integration_id" is 'Integration whose operation is executed.';`);
    this.addSql(
      `comment on column "integration_runs"."operation_name" is 'Name of the operation, as the definition of the integration names it.';`,
    );
    this.addSql(`comment on column "integration_runs"."trigger" is 'Cause of the run.';`);
    this.addSql(`comment on column "integration_runs"."status" is 'Status of the run.';`);
    this.addSql(`comment on column "integration_runs"."input" is 'Input of the operation.';`);
    this.addSql(
      `comment on column "integration_runs"."result" is 'Result of an operation that brings no records in.';`,
    );
    this.addSql(`comment on column "integration_runs"."started_at" is 'When it began to work.';`);
    this.addSql(`comment on column "integration_runs"."ended_at" is 'When it ended.';`);
    this.addSql(
      `comment on column "integration_runs"."read_records" is 'Number of records that the other system has sent so far.';`,
    );
    this.addSql(`comment on column "integration_runs"."created_records" is 'Number of records that it has created.';`);
    this.addSql(`comment on column "integration_runs"."updated_records" is 'Number of records that it has changed.';`);
    this.addSql(
      `comment on column "integration_runs"."unchanged_records" is 'Number of records that were as the other system has them.';`,
    );
    this.addSql(
      `comment on column "integration_runs"."filtered_records" is 'Number of records that were left out: by a filter, because a later one has the same id, or because their account or group was left out.';`,
    );
    this.addSql(
      `comment on column "integration_runs"."failed_records" is 'Number of records that could not be taken over.';`,
    );
    this.addSql(
      `comment on column "integration_runs"."removed_records" is 'Number of records that it has removed, because the other system no longer has them.';`,
    );
    this.addSql(
      `comment on column "integration_runs"."pending_removals" is 'Number of records that it removes once a person has confirmed it.';`,
    );
    this.addSql(
      `comment on column "integration_runs"."failures" is 'The first hundred records that could not be taken over, each with its id at the other system and the reason.';`,
    );
    this.addSql(`comment on column "integration_runs"."error_code" is 'Code of the error with which it ended.';`);
    this.addSql(`comment on column "integration_runs"."error_message" is 'Description of the error, and the remedy.';`);
    this.addSql(
      `comment on column "integration_runs"."cursor" is 'Position in the other system from which the run continues; \`asked\` once an operation that answers at once may have been requested.';`,
    );
    this.addSql(`comment on column "integration_runs"."pages" is 'Number of pages that are taken over.';`);
    this.addSql(
      `comment on column "integration_runs"."restarts" is 'How often it began again, because its position was not valid any more.';`,
    );
    this.addSql(
      `comment on column "integration_runs"."instance_id" is 'Id of the workflow instance that has requested it; null if none has.';`,
    );
    this.addSql(
      `comment on column "integration_runs"."open_key" is 'Ids of integration and operation while it is open: an operation of an integration runs once at a time.';`,
    );
    this.addSql(`create index "integration_runs_integration_id_index" on "integration_runs" ("integration_id");`);
    this.addSql(
      `create index "integration_runs_organization_id_id_index" on "integration_runs" ("organization_id", "id") where deleted_at is null;`,
    );
    this.addSql(
      `create index "integration_runs_organization_id_integration_id_id_index" on "integration_runs" ("organization_id", "integration_id", "id") where deleted_at is null;`,
    );
    this.addSql(
      `create index "integration_runs_organization_id_operation_name_id_index" on "integration_runs" ("organization_id", "operation_name", "id") where deleted_at is null;`,
    );
    this.addSql(
      `create index "integration_runs_organization_id_trigger_id_index" on "integration_runs" ("organization_id", "trigger", "id") where deleted_at is null;`,
    );
    this.addSql(
      `create index "integration_runs_organization_id_status_id_index" on "integration_runs" ("organization_id", "status", "id") where deleted_at is null;`,
    );
    this.addSql(
      `create index "integration_runs_organization_id_ended_at_id_index" on "integration_runs" ("organization_id", "ended_at", "id") where deleted_at is null;`,
    );
    this.addSql(
      `create index "integration_runs_organization_id_started_at_id_index" on "integration_runs" ("organization_id", "started_at", "id") where deleted_at is null;`,
    );
    this.addSql(
      `create index "integration_runs_organization_id_read_records_id_index" on "integration_runs" ("organization_id", "read_records", "id") where deleted_at is null;`,
    );
    this.addSql(
      `create index "integration_runs_organization_id_created_records_id_index" on "integration_runs" ("organization_id", "created_records", "id") where deleted_at is null;`,
    );
    this.addSql(
      `create index "integration_runs_organization_id_updated_records_id_index" on "integration_runs" ("organization_id", "updated_records", "id") where deleted_at is null;`,
    );
    this.addSql(
      `create index "integration_runs_organization_id_unchanged_records_id_index" on "integration_runs" ("organization_id", "unchanged_records", "id") where deleted_at is null;`,
    );
    this.addSql(
      `create index "integration_runs_organization_id_filtered_records_id_index" on "integration_runs" ("organization_id", "filtered_records", "id") where deleted_at is null;`,
    );
    this.addSql(
      `create index "integration_runs_organization_id_failed_records_id_index" on "integration_runs" ("organization_id", "failed_records", "id") where deleted_at is null;`,
    );
    this.addSql(
      `create index "integration_runs_organization_id_removed_records_id_index" on "integration_runs" ("organization_id", "removed_records", "id") where deleted_at is null;`,
    );
    this.addSql(
      `create index "integration_runs_organization_id_pending_removals_id_index" on "integration_runs" ("organization_id", "pending_removals", "id") where deleted_at is null;`,
    );
    this.addSql(
      `create index "integration_runs_organization_id_created_at_id_index" on "integration_runs" ("organization_id", "created_at", "id") where deleted_at is null;`,
    );
    this.addSql(
      `create index "integration_runs_organization_id_updated_at_id_index" on "integration_runs" ("organization_id", "updated_at", "id") where deleted_at is null;`,
    );
    this.addSql(
      `create index "integration_runs_organization_id_started_at_descending" on "integration_runs" (organization_id, started_at desc nulls last, id desc) where deleted_at is null;`,
    );
    this.addSql(
      `create index "integration_runs_organization_id_ended_at_descending" on "integration_runs" (organization_id, ended_at desc nulls last, id desc) where deleted_at is null;`,
    );
    this.addSql(
      `create index "integration_runs_operation_name_beginning" on "integration_runs" (organization_id, (left(matched_form(operation_name), 100) collate "C")) where deleted_at is null;`,
    );
    this.addSql(
      `create unique index "integration_runs_open_key_key" on "integration_runs" ("open_key") where deleted_at is null;`,
    );

    this.addSql(
      `create table "directory_sync_runs" ("id" text not null, "created_at" timestamptz not null, "updated_at" timestamptz not null, "created_by" text not null, "updated_by" text not null, "record_version" integer not null, "deleted_at" timestamptz null, "deleted_by" text null, "organization_id" text not null, "integration_id" text not null, "run_id" text not null, "status" text not null, "is_complete" boolean not null, "seen_accounts" integer not null, "seen_groups" integer not null, "seen_memberships" integer not null, "removed_accounts" integer not null, "removed_groups" integer not null, "removed_memberships" integer not null, "error_message" text null, "ended_at" timestamptz null, primary key ("id"));`,
    );
    this.addSql(
      `comment on table "directory_sync_runs" is 'One pass over a directory. Only a complete pass without failures says which accounts, groups and memberships the directory no longer has.';`,
    );
    this.addSql(`comment on column "directory_sync_runs"."integration_id" is 'Integration of the directory.';`);
    this.addSql(`comment on column "directory_sync_runs"."run_id" is 'Run that makes the pass.';`);
    this.addSql(`comment on column "directory_sync_runs"."status" is 'Status of the pass.';`);
    this.addSql(
      `comment on column "directory_sync_runs"."is_complete" is 'Whether the whole directory was read without a failure, so that missing records are removed.';`,
    );
    this.addSql(
      `comment on column "directory_sync_runs"."seen_accounts" is 'Number of accounts that the directory has.';`,
    );
    this.addSql(`comment on column "directory_sync_runs"."seen_groups" is 'Number of groups that the directory has.';`);
    this.addSql(
      `comment on column "directory_sync_runs"."seen_memberships" is 'Number of memberships that the directory has.';`,
    );
    this.addSql(
      `comment on column "directory_sync_runs"."removed_accounts" is 'Number of accounts that the pass has removed.';`,
    );
    this.addSql(
      `comment on column "directory_sync_runs"."removed_groups" is 'Number of groups that the pass has removed.';`,
    );
    this.addSql(
      `comment on column "directory_sync_runs"."removed_memberships" is 'Number of memberships that the pass has removed.';`,
    );
    this.addSql(
      `comment on column "directory_sync_runs"."error_message" is 'Why it is not complete, and what to do about it.';`,
    );
    this.addSql(`comment on column "directory_sync_runs"."ended_at" is 'When it ended.';`);
    this.addSql(`create index "directory_sync_runs_integration_id_index" on "directory_sync_runs" ("integration_id");`);
    this.addSql(`create index "directory_sync_runs_run_id_index" on "directory_sync_runs" ("run_id");`);
    this.addSql(
      `create index "directory_sync_runs_organization_id_id_index" on "directory_sync_runs" ("organization_id", "id") where deleted_at is null;`,
    );
    this.addSql(
      `create index "directory_sync_runs_organization_id_integration_id_id_index" on "directory_sync_runs" ("organization_id", "integration_id", "id") where deleted_at is null;`,
    );
    this.addSql(
      `create index "directory_sync_runs_organization_id_run_id_id_index" on "directory_sync_runs" ("organization_id", "run_id", "id") where deleted_at is null;`,
    );
    this.addSql(
      `create index "directory_sync_runs_organization_id_status_id_index" on "directory_sync_runs" ("organization_id", "status", "id") where deleted_at is null;`,
    );
    this.addSql(
      `create index "directory_sync_runs_organization_id_ended_at_id_index" on "directory_sync_runs" ("organization_id", "ended_at", "id") where deleted_at is null;`,
    );
    this.addSql(
      `create index "directory_sync_runs_organization_id_created_at_id_index" on "directory_sync_runs" ("organization_id", "created_at", "id") where deleted_at is null;`,
    );
    this.addSql(
      `create index "directory_sync_runs_organization_id_updated_at_id_index" on "directory_sync_runs" ("organization_id", "updated_at", "id") where deleted_at is null;`,
    );
    this.addSql(
      `create index "directory_sync_runs_organization_id_ended_at_descending" on "directory_sync_runs" (organization_id, ended_at desc nulls last, id desc) where deleted_at is null;`,
    );
    this.addSql(
      `create unique index "directory_sync_runs_run_id_key" on "directory_sync_runs" ("run_id") where deleted_at is null;`,
    );

    this.addSql(
      `create table "directory_groups" ("id" text not null, "created_at" timestamptz not null, "updated_at" timestamptz not null, "created_by" text not null, "updated_by" text not null, "record_version" integer not null, "deleted_at" timestamptz null, "deleted_by" text null, "organization_id" text not null, "integration_id" text not null, "external_id" text not null, "display_name" text null, "email" text null, "description" text null, "reference" text null, "attributes" jsonb null, primary key ("id"));`,
    );
    this.addSql(`comment on table "directory_groups" is 'Group of a directory, as the directory describes it.';`);
    this.addSql(`comment on column "directory_groups"."integration_id" is 'Integration of the directory.';`);
    this.addSql(`comment on column "directory_groups"."external_id" is 'Id of the group in the directory.';`);
    this.addSql(`comment on column "directory_groups"."display_name" is 'Name of the group.';`);
    this.addSql(`comment on column "directory_groups"."email" is 'E-mail address of the group.';`);
    this.addSql(`comment on column "directory_groups"."description" is 'Purpose of the group.';`);
    this.addSql(
      `comment on column "directory_groups"."reference" is 'Id that the system which pushes the group has given it (\`externalId\` of SCIM).';`,
    );
    this.addSql(`comment on column "directory_groups"."attributes" is 'Further attributes of the directory.';`);
    this.addSql(`create index "directory_groups_integration_id_index" on "directory_groups" ("integration_id");`);
    this.addSql(
      `create index "directory_groups_organization_id_id_index" on "directory_groups" ("organization_id", "id") where deleted_at is null;`,
    );
    this.addSql(
      `create index "directory_groups_organization_id_integration_id_id_index" on "directory_groups" ("organization_id", "integration_id", "id") where deleted_at is null;`,
    );
    this.addSql(
      `create index "directory_groups_organization_id_external_id_id_index" on "directory_groups" ("organization_id", "external_id", "id") where deleted_at is null;`,
    );
    this.addSql(
      `create index "directory_groups_organization_id_display_name_order" on "directory_groups" (organization_id, display_name collate record_order, id) where deleted_at is null;`,
    );
    this.addSql(
      `create index "directory_groups_organization_id_email_id_index" on "directory_groups" ("organization_id", "email", "id") where deleted_at is null;`,
    );
    this.addSql(
      `create index "directory_groups_organization_id_reference_id_index" on "directory_groups" ("organization_id", "reference", "id") where deleted_at is null;`,
    );
    this.addSql(
      `create index "directory_groups_organization_id_created_at_id_index" on "directory_groups" ("organization_id", "created_at", "id") where deleted_at is null;`,
    );
    this.addSql(
      `create index "directory_groups_organization_id_updated_at_id_index" on "directory_groups" ("organization_id", "updated_at", "id") where deleted_at is null;`,
    );
    this.addSql(
      `create index "directory_groups_organization_id_display_name_descending" on "directory_groups" (organization_id, display_name collate record_order desc nulls last, id desc) where deleted_at is null;`,
    );
    this.addSql(
      `create index "directory_groups_external_id_beginning" on "directory_groups" (organization_id, (left(matched_form(external_id), 100) collate "C")) where deleted_at is null;`,
    );
    this.addSql(
      `create index "directory_groups_display_name_beginning" on "directory_groups" (organization_id, (left(matched_form(display_name), 100) collate "C")) where deleted_at is null;`,
    );
    this.addSql(
      `create index "directory_groups_email_beginning" on "directory_groups" (organization_id, (left(matched_form(email), 100) collate "C")) where deleted_at is null;`,
    );
    this.addSql(
      `create index "directory_groups_reference_beginning" on "directory_groups" (organization_id, (left(matched_form(reference), 100) collate "C")) where deleted_at is null;`,
    );
    this.addSql(
      `create index "directory_groups_search_index" on "directory_groups" using gin (organization_id, matched_form(coalesce(display_name, '')) gin_trgm_ops, search_words(matched_form(coalesce(display_name, '')))) where deleted_at is null;`,
    );
    this.addSql(
      `create unique index "directory_groups_integration_id_external_id_key" on "directory_groups" ("integration_id", "external_id") where deleted_at is null;`,
    );

    this.addSql(
      `create table "directory_accounts" ("id" text not null, "created_at" timestamptz not null, "updated_at" timestamptz not null, "created_by" text not null, "updated_by" text not null, "record_version" integer not null, "deleted_at" timestamptz null, "deleted_by" text null, "organization_id" text not null, "integration_id" text not null, "external_id" text not null, "user_name" text null, "email" text null, "display_name" text null, "given_name" text null, "family_name" text null, "is_active" boolean not null, "reference" text null, "attributes" jsonb null, "user_id" text null, "membership_id" text null, "provisioning" text not null, "provisioning_problem" text null, "provisioned_at" timestamptz null, primary key ("id"));`,
    );
    this.addSql(
      `comment on table "directory_accounts" is 'Account of a person in a directory, as the directory describes it.';`,
    );
    this.addSql(`comment on column "directory_accounts"."integration_id" is 'Integration of the directory.';`);
    this.addSql(`comment on column "directory_accounts"."external_id" is 'Id of the account in the directory.';`);
    this.addSql(`comment on column "directory_accounts"."user_name" is 'Name with which the person signs in there.';`);
    this.addSql(`comment on column "directory_accounts"."email" is 'E-mail address, in lower case.';`);
    this.addSql(`comment on column "directory_accounts"."display_name" is 'Name that is shown for the account.';`);
    this.addSql(`comment on column "directory_accounts"."given_name" is 'Given name.';`);
    this.addSql(`comment on column "directory_accounts"."family_name" is 'Family name.';`);
    this.addSql(`comment on column "directory_accounts"."is_active" is 'Whether the person can sign in there.';`);
    this.addSql(
      `comment on column "directory_accounts"."reference" is 'Id that the system which pushes the account has given it (\`externalId\` of SCIM).';`,
    );
    this.addSql(`comment on column "directory_accounts"."attributes" is 'Further attributes of the directory.';`);
    this.addSql(
      `comment on column "directory_accounts"."user_id" is 'Id of the person of this server who has its address; null if there is none.';`,
    );
    this.addSql(
      `comment on column "directory_accounts"."membership_id" is 'Id of the membership that the directory gave this person.';`,
    );
    this.addSql(
      `comment on column "directory_accounts"."provisioning" is 'Whether the account has made its person a member of the organization.';`,
    );
    this.addSql(
      `comment on column "directory_accounts"."provisioning_problem" is 'Why it has not, and what to do about it.';`,
    );
    this.addSql(
      `comment on column "directory_accounts"."provisioned_at" is 'When the decision about the membership last changed.';`,
    );
    this.addSql(`create index "directory_accounts_integration_id_index" on "directory_accounts" ("integration_id");`);
    this.addSql(
      `create index "directory_accounts_email_index" on "directory_accounts" ("email") where deleted_at is null and provisioning = 'waiting';`,
    );
    this.addSql(
      `create index "directory_accounts_membership_id_index" on "directory_accounts" ("membership_id") where deleted_at is null and membership_id is not null;`,
    );
    this.addSql(
      `create index "directory_accounts_organization_id_id_index" on "directory_accounts" ("organization_id", "id") where deleted_at is null;`,
    );
    this.addSql(
      `create index "directory_accounts_organization_id_integration_id_id_index" on "directory_accounts" ("organization_id", "integration_id", "id") where deleted_at is null;`,
    );
    this.addSql(
      `create index "directory_accounts_organization_id_external_id_id_index" on "directory_accounts" ("organization_id", "external_id", "id") where deleted_at is null;`,
    );
    this.addSql(
      `create index "directory_accounts_organization_id_user_name_order" on "directory_accounts" (organization_id, user_name collate record_order, id) where deleted_at is null;`,
    );
    this.addSql(
      `create index "directory_accounts_organization_id_email_order" on "directory_accounts" (organization_id, email collate record_order, id) where deleted_at is null;`,
    );
    this.addSql(
      `create index "directory_accounts_organization_id_display_name_order" on "directory_accounts" (organization_id, display_name collate record_order, id) where deleted_at is null;`,
    );
    this.addSql(
      `create index "directory_accounts_organization_id_reference_id_index" on "directory_accounts" ("organization_id", "reference", "id") where deleted_at is null;`,
    );
    this.addSql(
      `create index "directory_accounts_organization_id_user_id_id_index" on "directory_accounts" ("organization_id", "user_id", "id") where deleted_at is null;`,
    );
    this.addSql(
      `create index "directory_accounts_organization_id_provisioning_id_index" on "directory_accounts" ("organization_id", "provisioning", "id") where deleted_at is null;`,
    );
    this.addSql(
      `create index "directory_accounts_organization_id_created_at_id_index" on "directory_accounts" ("organization_id", "created_at", "id") where deleted_at is null;`,
    );
    this.addSql(
      `create index "directory_accounts_organization_id_updated_at_id_index" on "directory_accounts" ("organization_id", "updated_at", "id") where deleted_at is null;`,
    );
    this.addSql(
      `create index "directory_accounts_organization_id_user_name_descending" on "directory_accounts" (organization_id, user_name collate record_order desc nulls last, id desc) where deleted_at is null;`,
    );
    this.addSql(
      `create index "directory_accounts_organization_id_email_descending" on "directory_accounts" (organization_id, email collate record_order desc nulls last, id desc) where deleted_at is null;`,
    );
    this.addSql(
      `create index "directory_accounts_organization_id_display_name_descending" on "directory_accounts" (organization_id, display_name collate record_order desc nulls last, id desc) where deleted_at is null;`,
    );
    this.addSql(
      `create index "directory_accounts_external_id_beginning" on "directory_accounts" (organization_id, (left(matched_form(external_id), 100) collate "C")) where deleted_at is null;`,
    );
    this.addSql(
      `create index "directory_accounts_user_name_beginning" on "directory_accounts" (organization_id, (left(matched_form(user_name), 100) collate "C")) where deleted_at is null;`,
    );
    this.addSql(
      `create index "directory_accounts_email_beginning" on "directory_accounts" (organization_id, (left(matched_form(email), 100) collate "C")) where deleted_at is null;`,
    );
    this.addSql(
      `create index "directory_accounts_display_name_beginning" on "directory_accounts" (organization_id, (left(matched_form(display_name), 100) collate "C")) where deleted_at is null;`,
    );
    this.addSql(
      `create index "directory_accounts_reference_beginning" on "directory_accounts" (organization_id, (left(matched_form(reference), 100) collate "C")) where deleted_at is null;`,
    );
    this.addSql(
      `create index "directory_accounts_user_id_beginning" on "directory_accounts" (organization_id, (left(matched_form(user_id), 100) collate "C")) where deleted_at is null;`,
    );
    this.addSql(
      `create index "directory_accounts_search_index" on "directory_accounts" using gin (organization_id, matched_form(coalesce(user_name, '') || ' ' || coalesce(email, '') || ' ' || coalesce(display_name, '')) gin_trgm_ops, search_words(matched_form(coalesce(user_name, '') || ' ' || coalesce(email, '') || ' ' || coalesce(display_name, '')))) where deleted_at is null;`,
    );
    this.addSql(
      `create unique index "directory_accounts_integration_id_external_id_key" on "directory_accounts" ("integration_id", "external_id") where deleted_at is null;`,
    );

    this.addSql(
      `create table "directory_memberships" ("id" text not null, "created_at" timestamptz not null, "updated_at" timestamptz not null, "created_by" text not null, "updated_by" text not null, "record_version" integer not null, "deleted_at" timestamptz null, "deleted_by" text null, "organization_id" text not null, "integration_id" text not null, "account_id" text not null, "group_id" text not null, "role" text null, primary key ("id"));`,
    );
    this.addSql(`comment on table "directory_memberships" is 'Membership of an account in a group of a directory.';`);
    this.addSql(`comment on column "directory_memberships"."integration_id" is 'Integration of the directory.';`);
    this.addSql(`comment on column "directory_memberships"."account_id" is 'Account that is in the group.';`);
    this.addSql(`comment on column "directory_memberships"."group_id" is 'Group.';`);
    this.addSql(`comment on column "directory_memberships"."role" is 'Role in the group, as the directory names it.';`);
    this.addSql(
      `create index "directory_memberships_integration_id_index" on "directory_memberships" ("integration_id");`,
    );
    this.addSql(`create index "directory_memberships_account_id_index" on "directory_memberships" ("account_id");`);
    this.addSql(`create index "directory_memberships_group_id_index" on "directory_memberships" ("group_id");`);
    this.addSql(
      `create index "directory_memberships_organization_id_id_index" on "directory_memberships" ("organization_id", "id") where deleted_at is null;`,
    );
    this.addSql(
      `create index "directory_memberships_organization_id_integration_id_id_index" on "directory_memberships" ("organization_id", "integration_id", "id") where deleted_at is null;`,
    );
    this.addSql(
      `create index "directory_memberships_organization_id_account_id_id_index" on "directory_memberships" ("organization_id", "account_id", "id") where deleted_at is null;`,
    );
    this.addSql(
      `create index "directory_memberships_organization_id_group_id_id_index" on "directory_memberships" ("organization_id", "group_id", "id") where deleted_at is null;`,
    );
    this.addSql(
      `create index "directory_memberships_organization_id_created_at_id_index" on "directory_memberships" ("organization_id", "created_at", "id") where deleted_at is null;`,
    );
    this.addSql(
      `create index "directory_memberships_organization_id_updated_at_id_index" on "directory_memberships" ("organization_id", "updated_at", "id") where deleted_at is null;`,
    );
    this.addSql(
      `create unique index "directory_memberships_account_id_group_id_key" on "directory_memberships" ("account_id", "group_id") where deleted_at is null;`,
    );

    this.addSql(`alter table "integrations" drop constraint "integrations_status_before_lapse_check";`);
    this.addSql(`alter table "integrations" drop constraint "integrations_status_check";`);
    this.addSql(
      `alter table "integrations" add "user_input" jsonb null, add "credential_ref" text null, add "account_id" text null, add "account_name" text null, add "expires_at" timestamptz null, add "connected_at" timestamptz null, add "error_code" text null, add "error_message" text null, add "errored_at" timestamptz null, add "probes" integer not null default '0', add "next_probe_at" timestamptz null, add "responsible_id" text null, add "keeps_records" boolean not null default 'false', add "expiry_announced_at" timestamptz null, add "last_sync_at" timestamptz null, add "next_sync_at" timestamptz null, add "refreshing_until" timestamptz null;`,
    );
    this.addSql(`alter table "integrations" alter column "probes" drop default;`);
    this.addSql(`alter table "integrations" alter column "keeps_records" drop default;`);
    this.addSql(
      `comment on column "integrations"."user_input" is 'Settings of the organization for the definition, such as filters.';`,
    );
    this.addSql(
      `comment on column "integrations"."credential_ref" is 'Sort of credential with which it is connected, as the definition names it.';`,
    );
    this.addSql(
      `comment on column "integrations"."account_id" is 'Id of the account at the other system, such as its tenant, workspace or installation.';`,
    );
    this.addSql(`comment on column "integrations"."account_name" is 'Name of that account.';`);
    this.addSql(
      `comment on column "integrations"."expires_at" is 'When it is removed unless somebody has connected it by then; null once it is connected.';`,
    );
    this.addSql(`comment on column "integrations"."connected_at" is 'When it was last connected.';`);
    this.addSql(
      `comment on column "integrations"."error_code" is 'Code of the error because of which it does not work.';`,
    );
    this.addSql(`comment on column "integrations"."error_message" is 'The error, and its remedy.';`);
    this.addSql(`comment on column "integrations"."errored_at" is 'When it stopped working.';`);
    this.addSql(
      `comment on column "integrations"."probes" is 'Number of times that the server has looked whether it works again.';`,
    );
    this.addSql(
      `comment on column "integrations"."next_probe_at" is 'When the server looks again whether it works, or whether it is disconnected.';`,
    );
    this.addSql(
      `comment on column "integrations"."responsible_id" is 'Id of the person responsible for the integration, who connected it last. When that person leaves, an owner of the organization becomes responsible.';`,
    );
    this.addSql(
      `comment on column "integrations"."keeps_records" is 'Whether the records that came in stay when it is disconnected.';`,
    );
    this.addSql(
      `comment on column "integrations"."expiry_announced_at" is 'When the person responsible was notified that its credential stops working soon.';`,
    );
    this.addSql(
      `comment on column "integrations"."is_primary_directory" is 'Whether it is the directory from which the organization takes its people; one integration at most is.';`,
    );
    this.addSql(`comment on column "integrations"."last_sync_at" is 'When records last came in.';`);
    this.addSql(`comment on column "integrations"."next_sync_at" is 'When records come in next.';`);
    this.addSql(
      `comment on column "integrations"."refreshing_until" is 'Until when one process has the right to renew its credential.';`,
    );
    this.addSql(`alter table "notifications" drop constraint if exists "notifications_target_kind_check";`);
    this.addSql(
      `alter table "notifications" add constraint "notifications_target_kind_check" check (target_kind in (${quoted([...targets.slice(0, 6), 'integration', ...targets.slice(6)])})) not valid;`,
    );
    this.addSql(`alter table "notifications" validate constraint "notifications_target_kind_check";`);
    // Of several primary directories of an organization, the oldest one stays.
    this.addSql(
      `update "integrations" set "is_primary_directory" = false where "is_primary_directory" and "deleted_at" is null and "id" not in (select distinct on ("organization_id") "id" from "integrations" where "is_primary_directory" and "deleted_at" is null order by "organization_id", "id");`,
    );
    this.addSql(
      `create unique index "integrations_organization_id_key" on "integrations" ("organization_id") where deleted_at is null and is_primary_directory;`,
    );
    this.addSql(
      `create index "integrations_account_id_index" on "integrations" ("account_id") where deleted_at is null and account_id is not null;`,
    );
    this.addSql(
      `create index "integrations_expires_at_index" on "integrations" ("expires_at") where deleted_at is null and deleted_at is null and status = 'pending';`,
    );
    this.addSql(
      `create index "integrations_next_probe_at_index" on "integrations" ("next_probe_at") where deleted_at is null and deleted_at is null and status in ('errored', 'disconnecting');`,
    );
    this.addSql(
      `create index "integrations_next_sync_at_index" on "integrations" ("next_sync_at") where deleted_at is null and deleted_at is null and status = 'connected';`,
    );
    this.addSql(
      `create index "integrations_organization_id_account_id_id_index" on "integrations" ("organization_id", "account_id", "id") where deleted_at is null;`,
    );
    this.addSql(
      `create index "integrations_organization_id_responsible_id_id_index" on "integrations" ("organization_id", "responsible_id", "id") where deleted_at is null;`,
    );
    this.addSql(
      `create index "integrations_organization_id_expires_at_id_index" on "integrations" ("organization_id", "expires_at", "id") where deleted_at is null;`,
    );
    this.addSql(
      `create index "integrations_organization_id_expires_at_descending" on "integrations" (organization_id, expires_at desc nulls last, id desc) where deleted_at is null;`,
    );
    this.addSql(
      `create index "integrations_account_id_beginning" on "integrations" (organization_id, (left(matched_form(account_id), 100) collate "C")) where deleted_at is null;`,
    );
    this.addSql(
      `create index "integrations_responsible_id_beginning" on "integrations" (organization_id, (left(matched_form(responsible_id), 100) collate "C")) where deleted_at is null;`,
    );
    this.addSql(
      `alter table "integrations" add constraint "integrations_status_before_lapse_check" check (status_before_lapse in ('pending', 'connected', 'errored', 'disabled', 'disconnecting', 'disconnected'));`,
    );
    this.addSql(
      `alter table "integrations" add constraint "integrations_status_check" check (status in ('pending', 'connected', 'errored', 'disabled', 'disconnecting', 'disconnected'));`,
    );

    this.addSql(`alter table "secrets" add "integration_id" text null, add "credential_ref" text null;`);
    this.addSql(
      `comment on column "secrets"."integration_id" is 'Integration of which the server keeps the credential here; null for a secret that a person has entered.';`,
    );
    this.addSql(
      `comment on column "secrets"."credential_ref" is 'Which credential of the integration it is, as the definition names it.';`,
    );
    this.addSql(
      `alter table "secrets" add constraint "secrets_integration_id_foreign" foreign key ("integration_id") references "integrations" ("id") on update no action on delete restrict;`,
    );
    this.addSql(
      `create index "secrets_organization_id_integration_id_id_index" on "secrets" ("organization_id", "integration_id", "id") where deleted_at is null;`,
    );
    this.addSql(
      `create index "secrets_integration_id_index" on "secrets" ("integration_id") where integration_id is not null;`,
    );
    this.addSql(
      `create unique index "secrets_integration_id_credential_ref_key" on "secrets" ("integration_id", "credential_ref") where deleted_at is null;`,
    );

    this.addSql(
      `alter table "integration_runs" add constraint "integration_runs_organization_id_foreign" foreign key ("organization_id") references "organizations" ("id") on update no action on delete restrict;`,
    );
    this.addSql(
      `alter table "integration_runs" add constraint "integration_runs_integration_id_foreign" foreign key ("integration_id") references "integrations" ("id") on update no action on delete restrict;`,
    );
    this.addSql(
      `alter table "integration_runs" add constraint "integration_runs_trigger_check" check (trigger in ('person', 'schedule', 'webhook', 'workflow'));`,
    );
    this.addSql(
      `alter table "integration_runs" add constraint "integration_runs_status_check" check (status in ('pending', 'running', 'waiting', 'succeeded', 'failed', 'cancelled'));`,
    );
    this.addSql(`alter table "integration_runs" enable row level security;`);
    this.addSql(
      `create policy "integration_runs_app" on "integration_runs" to "core_app" using (organization_id = current_setting('core.organization_id', true)) with check (organization_id = current_setting('core.organization_id', true));`,
    );
    this.addSql(
      `create policy "integration_runs_system" on "integration_runs" to "core_system" using (coalesce(current_setting('core.organization_id', true), '') = '' or organization_id = current_setting('core.organization_id', true)) with check (coalesce(current_setting('core.organization_id', true), '') = '' or organization_id = current_setting('core.organization_id', true));`,
    );

    this.addSql(
      `alter table "directory_sync_runs" add constraint "directory_sync_runs_organization_id_foreign" foreign key ("organization_id") references "organizations" ("id") on update no action on delete restrict;`,
    );
    this.addSql(
      `alter table "directory_sync_runs" add constraint "directory_sync_runs_integration_id_foreign" foreign key ("integration_id") references "integrations" ("id") on update no action on delete restrict;`,
    );
    this.addSql(
      `alter table "directory_sync_runs" add constraint "directory_sync_runs_run_id_foreign" foreign key ("run_id") references "integration_runs" ("id") on update no action on delete restrict;`,
    );
    this.addSql(
      `alter table "directory_sync_runs" add constraint "directory_sync_runs_status_check" check (status in ('running', 'waiting', 'completed', 'failed', 'cancelled'));`,
    );
    this.addSql(`alter table "directory_sync_runs" enable row level security;`);
    this.addSql(
      `create policy "directory_sync_runs_app" on "directory_sync_runs" to "core_app" using (organization_id = current_setting('core.organization_id', true)) with check (organization_id = current_setting('core.organization_id', true));`,
    );
    this.addSql(
      `create policy "directory_sync_runs_system" on "directory_sync_runs" to "core_system" using (coalesce(current_setting('core.organization_id', true), '') = '' or organization_id = current_setting('core.organization_id', true)) with check (coalesce(current_setting('core.organization_id', true), '') = '' or organization_id = current_setting('core.organization_id', true));`,
    );

    this.addSql(
      `alter table "directory_groups" add constraint "directory_groups_organization_id_foreign" foreign key ("organization_id") references "organizations" ("id") on update no action on delete restrict;`,
    );
    this.addSql(
      `alter table "directory_groups" add constraint "directory_groups_integration_id_foreign" foreign key ("integration_id") references "integrations" ("id") on update no action on delete restrict;`,
    );
    this.addSql(`alter table "directory_groups" enable row level security;`);
    this.addSql(
      `create policy "directory_groups_app" on "directory_groups" to "core_app" using (organization_id = current_setting('core.organization_id', true)) with check (organization_id = current_setting('core.organization_id', true));`,
    );
    this.addSql(
      `create policy "directory_groups_system" on "directory_groups" to "core_system" using (coalesce(current_setting('core.organization_id', true), '') = '' or organization_id = current_setting('core.organization_id', true)) with check (coalesce(current_setting('core.organization_id', true), '') = '' or organization_id = current_setting('core.organization_id', true));`,
    );

    this.addSql(
      `alter table "directory_accounts" add constraint "directory_accounts_organization_id_foreign" foreign key ("organization_id") references "organizations" ("id") on update no action on delete restrict;`,
    );
    this.addSql(
      `alter table "directory_accounts" add constraint "directory_accounts_integration_id_foreign" foreign key ("integration_id") references "integrations" ("id") on update no action on delete restrict;`,
    );
    this.addSql(
      `alter table "directory_accounts" add constraint "directory_accounts_provisioning_check" check (provisioning in ('none', 'waiting', 'member', 'ended', 'refused'));`,
    );
    this.addSql(`alter table "directory_accounts" enable row level security;`);
    this.addSql(
      `create policy "directory_accounts_app" on "directory_accounts" to "core_app" using (organization_id = current_setting('core.organization_id', true)) with check (organization_id = current_setting('core.organization_id', true));`,
    );
    this.addSql(
      `create policy "directory_accounts_system" on "directory_accounts" to "core_system" using (coalesce(current_setting('core.organization_id', true), '') = '' or organization_id = current_setting('core.organization_id', true)) with check (coalesce(current_setting('core.organization_id', true), '') = '' or organization_id = current_setting('core.organization_id', true));`,
    );

    this.addSql(
      `alter table "directory_memberships" add constraint "directory_memberships_organization_id_foreign" foreign key ("organization_id") references "organizations" ("id") on update no action on delete restrict;`,
    );
    this.addSql(
      `alter table "directory_memberships" add constraint "directory_memberships_integration_id_foreign" foreign key ("integration_id") references "integrations" ("id") on update no action on delete restrict;`,
    );
    this.addSql(
      `alter table "directory_memberships" add constraint "directory_memberships_account_id_foreign" foreign key ("account_id") references "directory_accounts" ("id") on update no action on delete restrict;`,
    );
    this.addSql(
      `alter table "directory_memberships" add constraint "directory_memberships_group_id_foreign" foreign key ("group_id") references "directory_groups" ("id") on update no action on delete restrict;`,
    );
    this.addSql(`alter table "directory_memberships" enable row level security;`);
    this.addSql(
      `create policy "directory_memberships_app" on "directory_memberships" to "core_app" using (organization_id = current_setting('core.organization_id', true)) with check (organization_id = current_setting('core.organization_id', true));`,
    );
    this.addSql(
      `create policy "directory_memberships_system" on "directory_memberships" to "core_system" using (coalesce(current_setting('core.organization_id', true), '') = '' or organization_id = current_setting('core.organization_id', true)) with check (coalesce(current_setting('core.organization_id', true), '') = '' or organization_id = current_setting('core.organization_id', true));`,
    );
  }

  override down(): void | Promise<void> {
    this.addSql(`drop table "integration_sightings", "integration_account_rates";`);
    this.addSql(`alter table "directory_sync_runs" drop constraint "directory_sync_runs_run_id_foreign";`);
    this.addSql(`alter table "directory_memberships" drop constraint "directory_memberships_group_id_foreign";`);
    this.addSql(`alter table "directory_memberships" drop constraint "directory_memberships_account_id_foreign";`);

    this.addSql(`drop table if exists "integration_sightings" cascade;`);
    this.addSql(`drop table if exists "integration_account_rates" cascade;`);
    this.addSql(`drop table if exists "integration_runs" cascade;`);
    this.addSql(`drop table if exists "directory_sync_runs" cascade;`);
    this.addSql(`drop table if exists "directory_groups" cascade;`);
    this.addSql(`drop table if exists "directory_accounts" cascade;`);
    this.addSql(`drop table if exists "directory_memberships" cascade;`);

    this.addSql(`alter table "secrets" drop constraint "secrets_integration_id_foreign";`);

    this.addSql(`delete from "notifications" where "target_kind" = 'integration';`);
    this.addSql(`alter table "notifications" drop constraint if exists "notifications_target_kind_check";`);
    this.addSql(
      `alter table "notifications" add constraint "notifications_target_kind_check" check (target_kind in (${quoted(targets)})) not valid;`,
    );
    this.addSql(`alter table "notifications" validate constraint "notifications_target_kind_check";`);
    this.addSql(`drop index "integrations_organization_id_key";`);
    this.addSql(
      `comment on column "integrations"."is_primary_directory" is 'Whether it is the directory from which the organization takes its people.';`,
    );
    this.addSql(`drop index "integrations_account_id_index";`);
    this.addSql(`drop index "integrations_expires_at_index";`);
    this.addSql(`drop index "integrations_next_probe_at_index";`);
    this.addSql(`drop index "integrations_next_sync_at_index";`);
    this.addSql(`drop index "integrations_organization_id_account_id_id_index";`);
    this.addSql(`drop index "integrations_organization_id_responsible_id_id_index";`);
    this.addSql(`drop index "integrations_organization_id_expires_at_id_index";`);
    this.addSql(`drop index "integrations_organization_id_expires_at_descending";`);
    this.addSql(`drop index "integrations_account_id_beginning";`);
    this.addSql(`drop index "integrations_responsible_id_beginning";`);
    this.addSql(`alter table "integrations" drop constraint "integrations_status_check";`);
    this.addSql(`alter table "integrations" drop constraint "integrations_status_before_lapse_check";`);
    this.addSql(
      `alter table "integrations" drop column "user_input", drop column "credential_ref", drop column "account_id", drop column "account_name", drop column "expires_at", drop column "connected_at", drop column "error_code", drop column "error_message", drop column "errored_at", drop column "probes", drop column "next_probe_at", drop column "responsible_id", drop column "keeps_records", drop column "expiry_announced_at", drop column "last_sync_at", drop column "next_sync_at", drop column "refreshing_until";`,
    );
    this.addSql(
      `alter table "integrations" add constraint "integrations_status_check" check ("status" in ('pending', 'connected', 'errored', 'disabled'));`,
    );
    this.addSql(
      `alter table "integrations" add constraint "integrations_status_before_lapse_check" check ("status_before_lapse" in ('pending', 'connected', 'errored', 'disabled'));`,
    );

    this.addSql(`drop index "secrets_organization_id_integration_id_id_index";`);
    this.addSql(`drop index "secrets_integration_id_index";`);
    this.addSql(`drop index "secrets_integration_id_credential_ref_key";`);
    this.addSql(`alter table "secrets" drop column "integration_id", drop column "credential_ref";`);
  }
}

import { Migration } from '@mikro-orm/migrations';

export class Migration20261123024940MoreCoreKinds extends Migration {
  override up(): void | Promise<void> {
    this.addSql(
      `create table "integrations" ("id" text not null, "created_at" timestamptz not null, "updated_at" timestamptz not null, "created_by" text not null, "updated_by" text not null, "record_version" integer not null, "deleted_at" timestamptz null, "deleted_by" text null, "organization_id" text not null, "display_id" text not null, "name" text not null, "description" text null, "definition_id" text null, "definition_version" text null, "family" text null, "status" text not null, "metadata" jsonb null, "is_primary_directory" boolean not null, "sends_campaigns" boolean not null, primary key ("id"));`,
    );
    this.addSql(`comment on table "integrations" is 'Connection of an organization to another system.';`);
    this.addSql(
      `comment on column "integrations"."display_id" is 'Human-readable identifier; unique within the organization and immutable.';`,
    );
    this.addSql(`comment on column "integrations"."name" is 'Name of the integration.';`);
    this.addSql(`comment on column "integrations"."description" is 'What the integration is for.';`);
    this.addSql(`comment on column "integrations"."definition_id" is 'Id of the definition that it follows.';`);
    this.addSql(`comment on column "integrations"."definition_version" is 'Version of that definition.';`);
    this.addSql(
      `comment on column "integrations"."family" is 'Family of systems to which the other system belongs, for example directory.';`,
    );
    this.addSql(`comment on column "integrations"."status" is 'State of the connection.';`);
    this.addSql(`comment on column "integrations"."metadata" is 'Further values of the caller.';`);
    this.addSql(
      `comment on column "integrations"."is_primary_directory" is 'Whether it is the directory from which the organization takes its people.';`,
    );
    this.addSql(`comment on column "integrations"."sends_campaigns" is 'Whether campaigns are sent through it.';`);
    this.addSql(
      `create index "integrations_organization_id_id_index" on "integrations" ("organization_id", "id") where deleted_at is null;`,
    );
    this.addSql(
      `create index "integrations_organization_id_definition_id_id_index" on "integrations" ("organization_id", "definition_id", "id") where deleted_at is null;`,
    );
    this.addSql(
      `create index "integrations_organization_id_family_id_index" on "integrations" ("organization_id", "family", "id") where deleted_at is null;`,
    );
    this.addSql(
      `create index "integrations_organization_id_status_id_index" on "integrations" ("organization_id", "status", "id") where deleted_at is null;`,
    );
    this.addSql(
      `create index "integrations_organization_id_created_at_id_index" on "integrations" ("organization_id", "created_at", "id") where deleted_at is null;`,
    );
    this.addSql(
      `create index "integrations_organization_id_updated_at_id_index" on "integrations" ("organization_id", "updated_at", "id") where deleted_at is null;`,
    );
    this.addSql(
      `create index "integrations_search_index" on "integrations" using gin ((coalesce(name, '') || ' ' || coalesce(description, '')) gin_trgm_ops) where deleted_at is null;`,
    );
    this.addSql(
      `create unique index "integrations_organization_id_display_id_key" on "integrations" ("organization_id", "display_id") where deleted_at is null;`,
    );
    this.addSql(
      `create unique index "integrations_organization_id_name_key" on "integrations" ("organization_id", "name") where deleted_at is null;`,
    );

    this.addSql(
      `create table "entity_types" ("id" text not null, "created_at" timestamptz not null, "updated_at" timestamptz not null, "created_by" text not null, "updated_by" text not null, "record_version" integer not null, "deleted_at" timestamptz null, "deleted_by" text null, "organization_id" text not null, "name" text not null, primary key ("id"));`,
    );
    this.addSql(
      `comment on table "entity_types" is 'Sort of company with which the organization deals, for example vendor or customer.';`,
    );
    this.addSql(`comment on column "entity_types"."name" is 'Name of the type.';`);
    this.addSql(
      `create index "entity_types_organization_id_id_index" on "entity_types" ("organization_id", "id") where deleted_at is null;`,
    );
    this.addSql(
      `create index "entity_types_organization_id_created_at_id_index" on "entity_types" ("organization_id", "created_at", "id") where deleted_at is null;`,
    );
    this.addSql(
      `create index "entity_types_organization_id_updated_at_id_index" on "entity_types" ("organization_id", "updated_at", "id") where deleted_at is null;`,
    );
    this.addSql(
      `create index "entity_types_search_index" on "entity_types" using gin ((coalesce(name, '')) gin_trgm_ops) where deleted_at is null;`,
    );
    this.addSql(
      `create unique index "entity_types_organization_id_name_key" on "entity_types" ("organization_id", "name") where deleted_at is null;`,
    );

    this.addSql(
      `create table "custom_enum_values" ("id" text not null, "created_at" timestamptz not null, "updated_at" timestamptz not null, "created_by" text not null, "updated_by" text not null, "record_version" integer not null, "deleted_at" timestamptz null, "deleted_by" text null, "organization_id" text not null, "object_type" text not null, "field" text not null, "name" text not null, "description" text null, "color" text not null, "icon" text null, primary key ("id"));`,
    );
    this.addSql(
      `comment on table "custom_enum_values" is 'Value that an organization defines for a field of its records, for example a type of task. One that records have cannot be deleted.';`,
    );
    this.addSql(
      `comment on column "custom_enum_values"."object_type" is 'Records that can have the value; global: those of all kinds.';`,
    );
    this.addSql(`comment on column "custom_enum_values"."field" is 'What the value says about a record.';`);
    this.addSql(`comment on column "custom_enum_values"."name" is 'Name of the value.';`);
    this.addSql(`comment on column "custom_enum_values"."description" is 'Meaning of the value.';`);
    this.addSql(`comment on column "custom_enum_values"."color" is 'Colour in the form #rrggbb.';`);
    this.addSql(`comment on column "custom_enum_values"."icon" is 'Name of an icon of the user interface.';`);
    this.addSql(
      `create index "custom_enum_values_organization_id_id_index" on "custom_enum_values" ("organization_id", "id") where deleted_at is null;`,
    );
    this.addSql(
      `create index "custom_enum_values_organization_id_object_type_id_index" on "custom_enum_values" ("organization_id", "object_type", "id") where deleted_at is null;`,
    );
    this.addSql(
      `create index "custom_enum_values_organization_id_field_id_index" on "custom_enum_values" ("organization_id", "field", "id") where deleted_at is null;`,
    );
    this.addSql(
      `create index "custom_enum_values_organization_id_name_id_index" on "custom_enum_values" ("organization_id", "name", "id") where deleted_at is null;`,
    );
    this.addSql(
      `create index "custom_enum_values_organization_id_created_at_id_index" on "custom_enum_values" ("organization_id", "created_at", "id") where deleted_at is null;`,
    );
    this.addSql(
      `create index "custom_enum_values_organization_id_updated_at_id_index" on "custom_enum_values" ("organization_id", "updated_at", "id") where deleted_at is null;`,
    );
    this.addSql(
      `create index "custom_enum_values_search_index" on "custom_enum_values" using gin ((coalesce(name, '') || ' ' || coalesce(description, '')) gin_trgm_ops) where deleted_at is null;`,
    );
    this.addSql(
      `create unique index "custom_enum_values_organization_id_object_type_field_name_key" on "custom_enum_values" ("organization_id", "object_type", "field", "name") where deleted_at is null;`,
    );

    this.addSql(
      `create table "organization_subscriptions" ("id" text not null, "created_at" timestamptz not null, "updated_at" timestamptz not null, "created_by" text not null, "updated_by" text not null, "record_version" integer not null, "deleted_at" timestamptz null, "deleted_by" text null, "organization_id" text not null, "external_id" text null, "status" text not null, "is_active" boolean not null, "trial_ends_at" timestamptz null, "ends_at" timestamptz null, "days_until_due" integer null, primary key ("id"));`,
    );
    this.addSql(
      `comment on table "organization_subscriptions" is 'Subscription of an organization at the payment provider.';`,
    );
    this.addSql(
      `comment on column "organization_subscriptions"."external_id" is 'Id of the subscription at the payment provider.';`,
    );
    this.addSql(
      `comment on column "organization_subscriptions"."status" is 'Status that the payment provider reports.';`,
    );
    this.addSql(
      `comment on column "organization_subscriptions"."is_active" is 'Whether the organization may use what it has subscribed to.';`,
    );
    this.addSql(
      `comment on column "organization_subscriptions"."trial_ends_at" is 'When the trial ends; null without a trial.';`,
    );
    this.addSql(
      `comment on column "organization_subscriptions"."ends_at" is 'When the subscription ends; null for one that goes on.';`,
    );
    this.addSql(
      `comment on column "organization_subscriptions"."days_until_due" is 'Days from an invoice until its payment is due.';`,
    );
    this.addSql(
      `create index "organization_subscriptions_organization_id_id_index" on "organization_subscriptions" ("organization_id", "id") where deleted_at is null;`,
    );
    this.addSql(
      `create index "organization_subscriptions_organization_id_status_id_index" on "organization_subscriptions" ("organization_id", "status", "id") where deleted_at is null;`,
    );
    this.addSql(
      `create index "organization_subscriptions_organization_id_is_active_id_index" on "organization_subscriptions" ("organization_id", "is_active", "id") where deleted_at is null;`,
    );
    this.addSql(
      `create index "organization_subscriptions_organization_id_created_at_id_index" on "organization_subscriptions" ("organization_id", "created_at", "id") where deleted_at is null;`,
    );
    this.addSql(
      `create index "organization_subscriptions_organization_id_updated_at_id_index" on "organization_subscriptions" ("organization_id", "updated_at", "id") where deleted_at is null;`,
    );
    this.addSql(
      `create unique index "organization_subscriptions_external_id_key" on "organization_subscriptions" ("external_id") where deleted_at is null;`,
    );

    this.addSql(
      `create table "organization_prices" ("id" text not null, "created_at" timestamptz not null, "updated_at" timestamptz not null, "created_by" text not null, "updated_by" text not null, "record_version" integer not null, "deleted_at" timestamptz null, "deleted_by" text null, "organization_id" text not null, "amount" numeric(19,4) not null, "amount_currency" text not null, "interval" text not null, "external_id" text null, "is_active" boolean not null, "subscription_id" text null, primary key ("id"));`,
    );
    this.addSql(
      `comment on table "organization_prices" is 'Price that an organization pays for a product, as the payment provider has it.';`,
    );
    this.addSql(`comment on column "organization_prices"."amount" is 'Price for one interval.';`);
    this.addSql(
      `comment on column "organization_prices"."amount_currency" is 'Currency of \`amount\`: its code in ISO 4217.';`,
    );
    this.addSql(`comment on column "organization_prices"."interval" is 'How often the price is paid.';`);
    this.addSql(`comment on column "organization_prices"."external_id" is 'Id of the price at the payment provider.';`);
    this.addSql(`comment on column "organization_prices"."is_active" is 'Whether the price is in use.';`);
    this.addSql(`comment on column "organization_prices"."subscription_id" is 'Subscription in which it is paid.';`);
    this.addSql(
      `create index "organization_prices_organization_id_id_index" on "organization_prices" ("organization_id", "id") where deleted_at is null;`,
    );
    this.addSql(
      `create index "organization_prices_organization_id_is_active_id_index" on "organization_prices" ("organization_id", "is_active", "id") where deleted_at is null;`,
    );
    this.addSql(
      `create index "organization_prices_organization_id_subscription_id_id_index" on "organization_prices" ("organization_id", "subscription_id", "id") where deleted_at is null;`,
    );
    this.addSql(
      `create index "organization_prices_organization_id_amount_id_index" on "organization_prices" ("organization_id", "amount", "id") where deleted_at is null;`,
    );
    this.addSql(
      `create index "organization_prices_organization_id_created_at_id_index" on "organization_prices" ("organization_id", "created_at", "id") where deleted_at is null;`,
    );
    this.addSql(
      `create index "organization_prices_organization_id_updated_at_id_index" on "organization_prices" ("organization_id", "updated_at", "id") where deleted_at is null;`,
    );
    this.addSql(
      `create index "organization_prices_subscription_id_index" on "organization_prices" ("subscription_id") where subscription_id is not null;`,
    );
    this.addSql(
      `create unique index "organization_prices_organization_id_external_id_key" on "organization_prices" ("organization_id", "external_id") where deleted_at is null;`,
    );

    this.addSql(
      `create table "organization_products" ("id" text not null, "created_at" timestamptz not null, "updated_at" timestamptz not null, "created_by" text not null, "updated_by" text not null, "record_version" integer not null, "deleted_at" timestamptz null, "deleted_by" text null, "organization_id" text not null, "module" text not null, "external_id" text null, "is_active" boolean not null, "subscription_id" text null, "price_id" text null, primary key ("id"));`,
    );
    this.addSql(
      `comment on table "organization_products" is 'Product that an organization has subscribed to, as the payment provider has it.';`,
    );
    this.addSql(`comment on column "organization_products"."module" is 'Product module that it contains.';`);
    this.addSql(
      `comment on column "organization_products"."external_id" is 'Id of the product at the payment provider.';`,
    );
    this.addSql(`comment on column "organization_products"."is_active" is 'Whether the organization may use it.';`);
    this.addSql(`comment on column "organization_products"."subscription_id" is 'Subscription that contains it.';`);
    this.addSql(`comment on column "organization_products"."price_id" is 'Price that is paid for it.';`);
    this.addSql(
      `create index "organization_products_organization_id_id_index" on "organization_products" ("organization_id", "id") where deleted_at is null;`,
    );
    this.addSql(
      `create index "organization_products_organization_id_module_id_index" on "organization_products" ("organization_id", "module", "id") where deleted_at is null;`,
    );
    this.addSql(
      `create index "organization_products_organization_id_is_active_id_index" on "organization_products" ("organization_id", "is_active", "id") where deleted_at is null;`,
    );
    this.addSql(
      `create index "organization_products_organization_id_subscription_id_id_index" on "organization_products" ("organization_id", "subscription_id", "id") where deleted_at is null;`,
    );
    this.addSql(
      `create index "organization_products_organization_id_price_id_id_index" on "organization_products" ("organization_id", "price_id", "id") where deleted_at is null;`,
    );
    this.addSql(
      `create index "organization_products_organization_id_created_at_id_index" on "organization_products" ("organization_id", "created_at", "id") where deleted_at is null;`,
    );
    this.addSql(
      `create index "organization_products_organization_id_updated_at_id_index" on "organization_products" ("organization_id", "updated_at", "id") where deleted_at is null;`,
    );
    this.addSql(
      `create index "organization_products_subscription_id_index" on "organization_products" ("subscription_id") where subscription_id is not null;`,
    );
    this.addSql(
      `create index "organization_products_price_id_index" on "organization_products" ("price_id") where price_id is not null;`,
    );
    this.addSql(
      `create unique index "organization_products_organization_id_external_id_key" on "organization_products" ("organization_id", "external_id") where deleted_at is null;`,
    );

    this.addSql(
      `create table "secrets" ("id" text not null, "created_at" timestamptz not null, "updated_at" timestamptz not null, "created_by" text not null, "updated_by" text not null, "record_version" integer not null, "deleted_at" timestamptz null, "deleted_by" text null, "organization_id" text not null, "name" text not null, "description" text null, "credential_type" text not null, "value" text not null, "integration_id" text null, "metadata" jsonb null, "last_used_at" timestamptz null, "expires_at" timestamptz null, primary key ("id"));`,
    );
    this.addSql(
      `comment on table "secrets" is 'Secret of an organization with which the server signs in to another system. It can be replaced, but nobody can read it.';`,
    );
    this.addSql(`comment on column "secrets"."name" is 'Name of the secret.';`);
    this.addSql(`comment on column "secrets"."description" is 'What the secret is for.';`);
    this.addSql(`comment on column "secrets"."credential_type" is 'Sort of secret.';`);
    this.addSql(
      `comment on column "secrets"."value" is 'The secret itself. It is encrypted at once, and no answer contains it.';`,
    );
    this.addSql(`comment on column "secrets"."integration_id" is 'Integration that uses the secret.';`);
    this.addSql(`comment on column "secrets"."metadata" is 'Further values of the caller; they are not encrypted.';`);
    this.addSql(
      `comment on column "secrets"."last_used_at" is 'When the server last used the secret; null for one that was never used.';`,
    );
    this.addSql(`comment on column "secrets"."expires_at" is 'When the secret stops working at the other system.';`);
    this.addSql(
      `create index "secrets_organization_id_id_index" on "secrets" ("organization_id", "id") where deleted_at is null;`,
    );
    this.addSql(
      `create index "secrets_organization_id_credential_type_id_index" on "secrets" ("organization_id", "credential_type", "id") where deleted_at is null;`,
    );
    this.addSql(
      `create index "secrets_organization_id_integration_id_id_index" on "secrets" ("organization_id", "integration_id", "id") where deleted_at is null;`,
    );
    this.addSql(
      `create index "secrets_organization_id_expires_at_id_index" on "secrets" ("organization_id", "expires_at", "id") where deleted_at is null;`,
    );
    this.addSql(
      `create index "secrets_organization_id_last_used_at_id_index" on "secrets" ("organization_id", "last_used_at", "id") where deleted_at is null;`,
    );
    this.addSql(
      `create index "secrets_organization_id_created_at_id_index" on "secrets" ("organization_id", "created_at", "id") where deleted_at is null;`,
    );
    this.addSql(
      `create index "secrets_organization_id_updated_at_id_index" on "secrets" ("organization_id", "updated_at", "id") where deleted_at is null;`,
    );
    this.addSql(
      `create index "secrets_integration_id_index" on "secrets" ("integration_id") where integration_id is not null;`,
    );
    this.addSql(
      `create index "secrets_search_index" on "secrets" using gin ((coalesce(name, '') || ' ' || coalesce(description, '')) gin_trgm_ops) where deleted_at is null;`,
    );
    this.addSql(
      `create unique index "secrets_organization_id_name_key" on "secrets" ("organization_id", "name") where deleted_at is null;`,
    );

    this.addSql(
      `create table "discussions" ("id" text not null, "created_at" timestamptz not null, "updated_at" timestamptz not null, "created_by" text not null, "updated_by" text not null, "record_version" integer not null, "deleted_at" timestamptz null, "deleted_by" text null, "organization_id" text not null, "external_id" text null, "is_resolved" boolean not null, "owner_id" text null, "task_id" text null, primary key ("id"));`,
    );
    this.addSql(
      `comment on table "discussions" is 'Thread of notes. Whoever may view the record that it is about reads it.';`,
    );
    this.addSql(`comment on column "discussions"."external_id" is 'Id of the discussion in another system.';`);
    this.addSql(`comment on column "discussions"."is_resolved" is 'Whether the discussion has come to its end.';`);
    this.addSql(`comment on column "discussions"."owner_id" is 'Person who began the discussion.';`);
    this.addSql(`comment on column "discussions"."task_id" is 'Task that the discussion is about.';`);
    this.addSql(
      `create index "discussions_organization_id_id_index" on "discussions" ("organization_id", "id") where deleted_at is null;`,
    );
    this.addSql(
      `create index "discussions_organization_id_is_resolved_id_index" on "discussions" ("organization_id", "is_resolved", "id") where deleted_at is null;`,
    );
    this.addSql(
      `create index "discussions_organization_id_owner_id_id_index" on "discussions" ("organization_id", "owner_id", "id") where deleted_at is null;`,
    );
    this.addSql(
      `create index "discussions_organization_id_task_id_id_index" on "discussions" ("organization_id", "task_id", "id") where deleted_at is null;`,
    );
    this.addSql(
      `create index "discussions_organization_id_created_at_id_index" on "discussions" ("organization_id", "created_at", "id") where deleted_at is null;`,
    );
    this.addSql(
      `create index "discussions_organization_id_updated_at_id_index" on "discussions" ("organization_id", "updated_at", "id") where deleted_at is null;`,
    );
    this.addSql(`create index "discussions_owner_id_index" on "discussions" ("owner_id") where owner_id is not null;`);
    this.addSql(`create index "discussions_task_id_index" on "discussions" ("task_id") where task_id is not null;`);
    this.addSql(
      `create unique index "discussions_organization_id_external_id_key" on "discussions" ("organization_id", "external_id") where deleted_at is null;`,
    );

    this.addSql(`drop index "organizations_parent_id_index";`);
    this.addSql(
      `create index "organizations_parent_id_index" on "organizations" ("parent_id") where parent_id is not null;`,
    );

    this.addSql(`drop index "tasks_assignee_id_index";`);
    this.addSql(`drop index "tasks_assigner_id_index";`);
    this.addSql(`drop index "tasks_parent_id_index";`);
    this.addSql(
      `alter table "tasks" add "type_id" text null, add "environment_id" text null, add "scope_id" text null, add "external_id" text null, add "external_urls" text[] not null default '{}', add "metadata" jsonb null;`,
    );
    this.addSql(`alter table "tasks" alter column "external_urls" drop default;`);
    this.addSql(`comment on column "tasks"."type_id" is 'Type of the task.';`);
    this.addSql(`comment on column "tasks"."environment_id" is 'Environment that the task concerns.';`);
    this.addSql(`comment on column "tasks"."scope_id" is 'Scope that the task concerns.';`);
    this.addSql(`comment on column "tasks"."external_id" is 'Id of the task in another system.';`);
    this.addSql(`comment on column "tasks"."external_urls" is 'Addresses of the task in other systems.';`);
    this.addSql(`comment on column "tasks"."metadata" is 'Further values of the caller.';`);
    this.addSql(
      `alter table "tasks" add constraint "tasks_type_id_foreign" foreign key ("type_id") references "custom_enum_values" ("id") on update no action on delete restrict;`,
    );
    this.addSql(
      `alter table "tasks" add constraint "tasks_environment_id_foreign" foreign key ("environment_id") references "custom_enum_values" ("id") on update no action on delete restrict;`,
    );
    this.addSql(
      `alter table "tasks" add constraint "tasks_scope_id_foreign" foreign key ("scope_id") references "custom_enum_values" ("id") on update no action on delete restrict;`,
    );
    this.addSql(
      `create index "tasks_organization_id_type_id_id_index" on "tasks" ("organization_id", "type_id", "id") where deleted_at is null;`,
    );
    this.addSql(
      `create index "tasks_organization_id_environment_id_id_index" on "tasks" ("organization_id", "environment_id", "id") where deleted_at is null;`,
    );
    this.addSql(
      `create index "tasks_organization_id_scope_id_id_index" on "tasks" ("organization_id", "scope_id", "id") where deleted_at is null;`,
    );
    this.addSql(`create index "tasks_type_id_index" on "tasks" ("type_id") where type_id is not null;`);
    this.addSql(
      `create index "tasks_environment_id_index" on "tasks" ("environment_id") where environment_id is not null;`,
    );
    this.addSql(`create index "tasks_scope_id_index" on "tasks" ("scope_id") where scope_id is not null;`);
    this.addSql(
      `create unique index "tasks_organization_id_external_id_key" on "tasks" ("organization_id", "external_id") where deleted_at is null;`,
    );
    this.addSql(`create index "tasks_assignee_id_index" on "tasks" ("assignee_id") where assignee_id is not null;`);
    this.addSql(`create index "tasks_assigner_id_index" on "tasks" ("assigner_id") where assigner_id is not null;`);
    this.addSql(`create index "tasks_parent_id_index" on "tasks" ("parent_id") where parent_id is not null;`);

    for (const column of ['file_id', 'task_file_id']) {
      this.addSql(`drop index "file_verdicts_${column}_index";`);
      this.addSql(
        `create index "file_verdicts_${column}_index" on "file_verdicts" ("${column}") where ${column} is not null;`,
      );
    }

    this.addSql(`drop index "invites_inviter_id_index";`);
    this.addSql(`create index "invites_inviter_id_index" on "invites" ("inviter_id") where inviter_id is not null;`);

    this.addSql(`drop index "files_owner_id_index";`);
    this.addSql(`create index "files_owner_id_index" on "files" ("owner_id") where owner_id is not null;`);

    this.addSql(`drop index "notes_owner_id_index";`);
    this.addSql(`drop index "notes_task_id_index";`);
    this.addSql(`alter table "notes" add "discussion_id" text null;`);
    this.addSql(`comment on column "notes"."discussion_id" is 'Discussion that the note is part of.';`);
    this.addSql(
      `alter table "notes" add constraint "notes_discussion_id_foreign" foreign key ("discussion_id") references "discussions" ("id") on update no action on delete restrict;`,
    );
    this.addSql(
      `create index "notes_organization_id_discussion_id_id_index" on "notes" ("organization_id", "discussion_id", "id") where deleted_at is null;`,
    );
    this.addSql(
      `create index "notes_discussion_id_index" on "notes" ("discussion_id") where discussion_id is not null;`,
    );
    this.addSql(`create index "notes_owner_id_index" on "notes" ("owner_id") where owner_id is not null;`);
    this.addSql(`create index "notes_task_id_index" on "notes" ("task_id") where task_id is not null;`);

    this.addSql(
      `alter table "integrations" add constraint "integrations_organization_id_foreign" foreign key ("organization_id") references "organizations" ("id") on update no action on delete restrict;`,
    );
    this.addSql(
      `alter table "integrations" add constraint "integrations_status_check" check (status in ('pending', 'connected', 'errored', 'disabled'));`,
    );
    this.addSql(`alter table "integrations" enable row level security;`);
    this.addSql(
      `create policy "integrations_app" on "integrations" to "core_app" using (organization_id = current_setting('core.organization_id', true)) with check (organization_id = current_setting('core.organization_id', true));`,
    );
    this.addSql(
      `create policy "integrations_system" on "integrations" to "core_system" using (coalesce(current_setting('core.organization_id', true), '') = '' or organization_id = current_setting('core.organization_id', true)) with check (coalesce(current_setting('core.organization_id', true), '') = '' or organization_id = current_setting('core.organization_id', true));`,
    );

    this.addSql(
      `alter table "entity_types" add constraint "entity_types_organization_id_foreign" foreign key ("organization_id") references "organizations" ("id") on update no action on delete restrict;`,
    );
    this.addSql(`alter table "entity_types" enable row level security;`);
    this.addSql(
      `create policy "entity_types_app" on "entity_types" to "core_app" using (organization_id = current_setting('core.organization_id', true)) with check (organization_id = current_setting('core.organization_id', true));`,
    );
    this.addSql(
      `create policy "entity_types_system" on "entity_types" to "core_system" using (coalesce(current_setting('core.organization_id', true), '') = '' or organization_id = current_setting('core.organization_id', true)) with check (coalesce(current_setting('core.organization_id', true), '') = '' or organization_id = current_setting('core.organization_id', true));`,
    );

    this.addSql(
      `alter table "custom_enum_values" add constraint "custom_enum_values_organization_id_foreign" foreign key ("organization_id") references "organizations" ("id") on update no action on delete restrict;`,
    );
    this.addSql(
      `alter table "custom_enum_values" add constraint "custom_enum_values_object_type_check" check (object_type in ('task', 'global'));`,
    );
    this.addSql(
      `alter table "custom_enum_values" add constraint "custom_enum_values_field_check" check (field in ('type', 'environment', 'scope'));`,
    );
    this.addSql(`alter table "custom_enum_values" enable row level security;`);
    this.addSql(
      `create policy "custom_enum_values_app" on "custom_enum_values" to "core_app" using (organization_id = current_setting('core.organization_id', true)) with check (organization_id = current_setting('core.organization_id', true));`,
    );
    this.addSql(
      `create policy "custom_enum_values_system" on "custom_enum_values" to "core_system" using (coalesce(current_setting('core.organization_id', true), '') = '' or organization_id = current_setting('core.organization_id', true)) with check (coalesce(current_setting('core.organization_id', true), '') = '' or organization_id = current_setting('core.organization_id', true));`,
    );

    this.addSql(
      `alter table "organization_subscriptions" add constraint "organization_subscriptions_organization_id_foreign" foreign key ("organization_id") references "organizations" ("id") on update no action on delete restrict;`,
    );
    this.addSql(
      `alter table "organization_subscriptions" add constraint "organization_subscriptions_status_check" check (status in ('trialing', 'active', 'past_due', 'incomplete', 'canceled', 'incomplete_expired', 'unpaid', 'paused'));`,
    );
    this.addSql(`alter table "organization_subscriptions" enable row level security;`);
    this.addSql(
      `create policy "organization_subscriptions_app" on "organization_subscriptions" to "core_app" using (organization_id = current_setting('core.organization_id', true)) with check (organization_id = current_setting('core.organization_id', true));`,
    );
    this.addSql(
      `create policy "organization_subscriptions_system" on "organization_subscriptions" to "core_system" using (coalesce(current_setting('core.organization_id', true), '') = '' or organization_id = current_setting('core.organization_id', true)) with check (coalesce(current_setting('core.organization_id', true), '') = '' or organization_id = current_setting('core.organization_id', true));`,
    );

    this.addSql(
      `alter table "organization_prices" add constraint "organization_prices_organization_id_foreign" foreign key ("organization_id") references "organizations" ("id") on update no action on delete restrict;`,
    );
    this.addSql(
      `alter table "organization_prices" add constraint "organization_prices_subscription_id_foreign" foreign key ("subscription_id") references "organization_subscriptions" ("id") on update no action on delete restrict;`,
    );
    this.addSql(
      `alter table "organization_prices" add constraint "organization_prices_amount_currency_check" check (amount_currency in ('aed', 'afn', 'all', 'amd', 'ang', 'aoa', 'ars', 'aud', 'awg', 'azn', 'bam', 'bbd', 'bdt', 'bgn', 'bhd', 'bif', 'bmd', 'bnd', 'bob', 'brl', 'bsd', 'btn', 'bwp', 'byn', 'bzd', 'cad', 'cdf', 'chf', 'clp', 'cny', 'cop', 'crc', 'cup', 'cve', 'czk', 'djf', 'dkk', 'dop', 'dzd', 'egp', 'ern', 'etb', 'eur', 'fjd', 'fkp', 'gbp', 'gel', 'ghs', 'gip', 'gmd', 'gnf', 'gtq', 'gyd', 'hkd', 'hnl', 'htg', 'huf', 'idr', 'ils', 'inr', 'iqd', 'irr', 'isk', 'jmd', 'jod', 'jpy', 'kes', 'kgs', 'khr', 'kmf', 'kpw', 'krw', 'kwd', 'kyd', 'kzt', 'lak', 'lbp', 'lkr', 'lrd', 'lsl', 'lyd', 'mad', 'mdl', 'mga', 'mkd', 'mmk', 'mnt', 'mop', 'mru', 'mur', 'mvr', 'mwk', 'mxn', 'myr', 'mzn', 'nad', 'ngn', 'nio', 'nok', 'npr', 'nzd', 'omr', 'pab', 'pen', 'pgk', 'php', 'pkr', 'pln', 'pyg', 'qar', 'ron', 'rsd', 'rub', 'rwf', 'sar', 'sbd', 'scr', 'sdg', 'sek', 'sgd', 'shp', 'sle', 'sos', 'srd', 'ssp', 'stn', 'svc', 'syp', 'szl', 'thb', 'tjs', 'tmt', 'tnd', 'top', 'try', 'ttd', 'twd', 'tzs', 'uah', 'ugx', 'usd', 'uyu', 'uzs', 'ved', 'ves', 'vnd', 'vuv', 'wst', 'xaf', 'xcd', 'xof', 'xpf', 'yer', 'zar', 'zmw', 'zwg'));`,
    );
    this.addSql(
      `alter table "organization_prices" add constraint "organization_prices_interval_check" check (interval in ('month', 'year'));`,
    );
    this.addSql(`alter table "organization_prices" enable row level security;`);
    this.addSql(
      `create policy "organization_prices_app" on "organization_prices" to "core_app" using (organization_id = current_setting('core.organization_id', true)) with check (organization_id = current_setting('core.organization_id', true));`,
    );
    this.addSql(
      `create policy "organization_prices_system" on "organization_prices" to "core_system" using (coalesce(current_setting('core.organization_id', true), '') = '' or organization_id = current_setting('core.organization_id', true)) with check (coalesce(current_setting('core.organization_id', true), '') = '' or organization_id = current_setting('core.organization_id', true));`,
    );

    this.addSql(
      `alter table "organization_products" add constraint "organization_products_organization_id_foreign" foreign key ("organization_id") references "organizations" ("id") on update no action on delete restrict;`,
    );
    this.addSql(
      `alter table "organization_products" add constraint "organization_products_subscription_id_foreign" foreign key ("subscription_id") references "organization_subscriptions" ("id") on update no action on delete restrict;`,
    );
    this.addSql(
      `alter table "organization_products" add constraint "organization_products_price_id_foreign" foreign key ("price_id") references "organization_prices" ("id") on update no action on delete restrict;`,
    );
    this.addSql(
      `alter table "organization_products" add constraint "organization_products_module_check" check (module in ('compliance', 'entity_management', 'policy_management', 'registry', 'risk_management', 'trust_center', 'vulnerability_management'));`,
    );
    this.addSql(`alter table "organization_products" enable row level security;`);
    this.addSql(
      `create policy "organization_products_app" on "organization_products" to "core_app" using (organization_id = current_setting('core.organization_id', true)) with check (organization_id = current_setting('core.organization_id', true));`,
    );
    this.addSql(
      `create policy "organization_products_system" on "organization_products" to "core_system" using (coalesce(current_setting('core.organization_id', true), '') = '' or organization_id = current_setting('core.organization_id', true)) with check (coalesce(current_setting('core.organization_id', true), '') = '' or organization_id = current_setting('core.organization_id', true));`,
    );

    this.addSql(
      `alter table "secrets" add constraint "secrets_organization_id_foreign" foreign key ("organization_id") references "organizations" ("id") on update no action on delete restrict;`,
    );
    this.addSql(
      `alter table "secrets" add constraint "secrets_integration_id_foreign" foreign key ("integration_id") references "integrations" ("id") on update no action on delete restrict;`,
    );
    this.addSql(
      `alter table "secrets" add constraint "secrets_credential_type_check" check (credential_type in ('api_key', 'oauth_client', 'basic', 'certificate', 'other'));`,
    );
    this.addSql(`alter table "secrets" enable row level security;`);
    this.addSql(
      `create policy "secrets_app" on "secrets" to "core_app" using (organization_id = current_setting('core.organization_id', true)) with check (organization_id = current_setting('core.organization_id', true));`,
    );
    this.addSql(
      `create policy "secrets_system" on "secrets" to "core_system" using (coalesce(current_setting('core.organization_id', true), '') = '' or organization_id = current_setting('core.organization_id', true)) with check (coalesce(current_setting('core.organization_id', true), '') = '' or organization_id = current_setting('core.organization_id', true));`,
    );

    this.addSql(
      `alter table "discussions" add constraint "discussions_organization_id_foreign" foreign key ("organization_id") references "organizations" ("id") on update no action on delete restrict;`,
    );
    this.addSql(
      `alter table "discussions" add constraint "discussions_owner_id_foreign" foreign key ("owner_id") references "users" ("id") on update no action on delete restrict;`,
    );
    this.addSql(
      `alter table "discussions" add constraint "discussions_task_id_foreign" foreign key ("task_id") references "tasks" ("id") on update no action on delete restrict;`,
    );
    this.addSql(`alter table "discussions" enable row level security;`);
    this.addSql(
      `create policy "discussions_app" on "discussions" to "core_app" using (organization_id = current_setting('core.organization_id', true)) with check (organization_id = current_setting('core.organization_id', true));`,
    );
    this.addSql(
      `create policy "discussions_system" on "discussions" to "core_system" using (coalesce(current_setting('core.organization_id', true), '') = '' or organization_id = current_setting('core.organization_id', true)) with check (coalesce(current_setting('core.organization_id', true), '') = '' or organization_id = current_setting('core.organization_id', true));`,
    );
    this
      .addSql(`create or replace function search_custom_enum_values(wanted text) returns setof text language sql stable security definer
    set search_path = public, pg_temp as \$\$
    select id from custom_enum_values where (organization_id = current_setting('core.organization_id', true)) and deleted_at is null and (coalesce(name, '') || ' ' || coalesce(description, '')) ilike search_pattern(wanted) and (name ilike search_pattern(wanted) or description ilike search_pattern(wanted))
    union
    select id from custom_enum_values where (organization_id = current_setting('core.organization_id', true)) and deleted_at is null and (id = upper(wanted))
  \$\$`);
    this.addSql(`revoke all on function search_custom_enum_values(text) from public`);
    this.addSql(`grant execute on function search_custom_enum_values(text) to core_app, core_system`);
    this
      .addSql(`create or replace function search_entity_types(wanted text) returns setof text language sql stable security definer
    set search_path = public, pg_temp as \$\$
    select id from entity_types where (organization_id = current_setting('core.organization_id', true)) and deleted_at is null and (coalesce(name, '')) ilike search_pattern(wanted) and (name ilike search_pattern(wanted))
    union
    select id from entity_types where (organization_id = current_setting('core.organization_id', true)) and deleted_at is null and (id = upper(wanted))
  \$\$`);
    this.addSql(`revoke all on function search_entity_types(text) from public`);
    this.addSql(`grant execute on function search_entity_types(text) to core_app, core_system`);
    this
      .addSql(`create or replace function search_integrations(wanted text) returns setof text language sql stable security definer
    set search_path = public, pg_temp as \$\$
    select id from integrations where (organization_id = current_setting('core.organization_id', true)) and deleted_at is null and (coalesce(name, '') || ' ' || coalesce(description, '')) ilike search_pattern(wanted) and (name ilike search_pattern(wanted) or description ilike search_pattern(wanted))
    union
    select id from integrations where (organization_id = current_setting('core.organization_id', true)) and deleted_at is null and (id = upper(wanted) or display_id = upper(wanted))
  \$\$`);
    this.addSql(`revoke all on function search_integrations(text) from public`);
    this.addSql(`grant execute on function search_integrations(text) to core_app, core_system`);
    this
      .addSql(`create or replace function search_secrets(wanted text) returns setof text language sql stable security definer
    set search_path = public, pg_temp as \$\$
    select id from secrets where (organization_id = current_setting('core.organization_id', true)) and deleted_at is null and (coalesce(name, '') || ' ' || coalesce(description, '')) ilike search_pattern(wanted) and (name ilike search_pattern(wanted) or description ilike search_pattern(wanted))
    union
    select id from secrets where (organization_id = current_setting('core.organization_id', true)) and deleted_at is null and (id = upper(wanted))
  \$\$`);
    this.addSql(`revoke all on function search_secrets(text) from public`);
    this.addSql(`grant execute on function search_secrets(text) to core_app, core_system`);
  }

  override down(): void | Promise<void> {
    this.addSql(`alter table "secrets" drop constraint "secrets_integration_id_foreign";`);
    this.addSql(`alter table "tasks" drop constraint "tasks_type_id_foreign";`);
    this.addSql(`alter table "tasks" drop constraint "tasks_environment_id_foreign";`);
    this.addSql(`alter table "tasks" drop constraint "tasks_scope_id_foreign";`);
    this.addSql(`alter table "organization_prices" drop constraint "organization_prices_subscription_id_foreign";`);
    this.addSql(`alter table "organization_products" drop constraint "organization_products_subscription_id_foreign";`);
    this.addSql(`alter table "organization_products" drop constraint "organization_products_price_id_foreign";`);
    this.addSql(`alter table "notes" drop constraint "notes_discussion_id_foreign";`);

    this.addSql(`drop table if exists "integrations" cascade;`);
    this.addSql(`drop table if exists "entity_types" cascade;`);
    this.addSql(`drop table if exists "custom_enum_values" cascade;`);
    this.addSql(`drop table if exists "organization_subscriptions" cascade;`);
    this.addSql(`drop table if exists "organization_prices" cascade;`);
    this.addSql(`drop table if exists "organization_products" cascade;`);
    this.addSql(`drop table if exists "secrets" cascade;`);
    this.addSql(`drop table if exists "discussions" cascade;`);

    this.addSql(`drop index "files_owner_id_index";`);
    this.addSql(`create index "files_owner_id_index" on "files" ("owner_id");`);

    for (const column of ['file_id', 'task_file_id']) {
      this.addSql(`drop index "file_verdicts_${column}_index";`);
      this.addSql(`create index "file_verdicts_${column}_index" on "file_verdicts" ("${column}");`);
    }
    this.addSql(`drop index "invites_inviter_id_index";`);
    this.addSql(`create index "invites_inviter_id_index" on "invites" ("inviter_id");`);

    this.addSql(`drop index "notes_organization_id_discussion_id_id_index";`);
    this.addSql(`drop index "notes_discussion_id_index";`);
    this.addSql(`drop index "notes_owner_id_index";`);
    this.addSql(`drop index "notes_task_id_index";`);
    this.addSql(`alter table "notes" drop column "discussion_id";`);
    this.addSql(`create index "notes_owner_id_index" on "notes" ("owner_id");`);
    this.addSql(`create index "notes_task_id_index" on "notes" ("task_id");`);

    this.addSql(`drop index "organizations_parent_id_index";`);
    this.addSql(`create index "organizations_parent_id_index" on "organizations" ("parent_id");`);

    this.addSql(`drop index "tasks_organization_id_type_id_id_index";`);
    this.addSql(`drop index "tasks_organization_id_environment_id_id_index";`);
    this.addSql(`drop index "tasks_organization_id_scope_id_id_index";`);
    this.addSql(`drop index "tasks_type_id_index";`);
    this.addSql(`drop index "tasks_environment_id_index";`);
    this.addSql(`drop index "tasks_scope_id_index";`);
    this.addSql(`drop index "tasks_organization_id_external_id_key";`);
    this.addSql(`drop index "tasks_assignee_id_index";`);
    this.addSql(`drop index "tasks_assigner_id_index";`);
    this.addSql(`drop index "tasks_parent_id_index";`);
    this.addSql(
      `alter table "tasks" drop column "type_id", drop column "environment_id", drop column "scope_id", drop column "external_id", drop column "external_urls", drop column "metadata";`,
    );
    this.addSql(`create index "tasks_assignee_id_index" on "tasks" ("assignee_id");`);
    this.addSql(`create index "tasks_assigner_id_index" on "tasks" ("assigner_id");`);
    this.addSql(`create index "tasks_parent_id_index" on "tasks" ("parent_id");`);

    this.addSql(`drop function search_custom_enum_values(text)`);
    this.addSql(`drop function search_entity_types(text)`);
    this.addSql(`drop function search_integrations(text)`);
    this.addSql(`drop function search_secrets(text)`);
  }
}

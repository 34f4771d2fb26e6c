import { Migration } from '@mikro-orm/migrations';

/** An id that follows from another one, of which the time stays: digits and letters A to F are digits of an id. */
const idFrom = (id: string, use: string) => `left(${id}, 10) || upper(substr(md5(${id} || '${use}'), 1, 16))`;

const recorded = (kind: string, operation: 'created' | 'deleted', from: string, changed: string, snapshot: string) => [
  `insert into history (id, recorded_at, entity_kind, entity_id, organization_id, operation, record_version, changed_fields, snapshot, actor, request_id)
    select ${idFrom('r.id', `${operation} history`)}, now(), '${kind}', r.id, r.organization_id, '${operation}', r.record_version, ${changed}, ${snapshot}, 'system:migration', 'migration-task-files'
    from ${from}`,
  `insert into events (id, occurred_at, topic, entity_kind, entity_id, record_version, organization_id, actor, request_id, payload, pending)
    select ${idFrom('r.id', `${operation} event`)}, now(), '${kind}.${operation}', '${kind}', r.id, r.record_version, r.organization_id, 'system:migration', 'migration-task-files', jsonb_build_object('changed', to_jsonb(${changed})), false
    from ${from}`,
];

const deletion = `deleted_at = now(), deleted_by = 'system:migration', updated_at = now(), updated_by = 'system:migration', record_version = record_version + 1`;
const nothing = `'{}'::text[]`;

/**
 * The live files of tasks become files of the other kind, under ids of their own: what the history says about the files stays as it is.
 * They end with their shares, because the rights to files of tasks are those of the tasks.
 */
const moveFiles = [
  `insert into task_files (id, created_at, updated_at, created_by, updated_by, record_version, organization_id, task_id, name, content_type, size_bytes, metadata)
    select ${idFrom('f.id', 'task file')}, f.created_at, now(), f.created_by, 'system:migration', 1, f.organization_id, f.task_id, f.name, f.content_type, f.size_bytes, f.metadata
    from files f where f.task_id is not null and f.deleted_at is null`,
  `insert into record_kinds (id, kind, organization_id) select id, 'task_file', organization_id from task_files`,
  ...recorded(
    'task_file',
    'created',
    'task_files r',
    `array['taskId', 'name', 'contentType', 'sizeBytes']`,
    `jsonb_build_object('taskId', r.task_id, 'content', null, 'name', r.name, 'contentType', r.content_type, 'sizeBytes', r.size_bytes, 'metadata', r.metadata)`,
  ),
  `update desired_tuples t set present = false, version = version + 1, raises = true
    from files f where t.present and t.object = 'file:' || f.id and f.task_id is not null and f.deleted_at is null`,
  `do $move$ begin
    perform raise_revisions(array(select distinct f.organization_id from files f where f.task_id is not null and f.deleted_at is null));
  end $move$`,
  `update file_shares s set ${deletion} from files f
    where s.file_id = f.id and s.deleted_at is null and f.task_id is not null and f.deleted_at is null`.replaceAll(
    'record_version = record_version',
    'record_version = s.record_version',
  ),
  ...recorded(
    'file_share',
    'deleted',
    `file_shares r where r.deleted_by = 'system:migration' and r.deleted_at = now()`,
    nothing,
    `jsonb_build_object('fileId', r.file_id, 'groupId', r.group_id, 'relation', r.relation)`,
  ),
  `update files set ${deletion} where task_id is not null and deleted_at is null`,
  ...recorded(
    'file',
    'deleted',
    `files r where r.deleted_by = 'system:migration' and r.deleted_at = now()`,
    nothing,
    `jsonb_build_object('name', r.name, 'contentType', r.content_type, 'sizeBytes', r.size_bytes, 'metadata', r.metadata, 'ownerId', r.owner_id, 'taskId', r.task_id)`,
  ),
];

/** The files of tasks become records of the kind `file` again, with all that was recorded about them. */
const moveBack = [
  `insert into files (id, created_at, updated_at, created_by, updated_by, record_version, deleted_at, deleted_by, organization_id, task_id, name, content_type, size_bytes, metadata)
    select id, created_at, updated_at, created_by, updated_by, record_version, deleted_at, deleted_by, organization_id, task_id, name, content_type, size_bytes, metadata
    from task_files`,
  `update record_kinds set kind = 'file' where kind = 'task_file'`,
  `update history set entity_kind = 'file' where entity_kind = 'task_file'`,
  `update events set entity_kind = 'file', topic = replace(topic, 'task_file.', 'file.') where entity_kind = 'task_file'`,
];

/** Which file a record has is in `content` alone; without it, its bytes would belong to nobody and be removed. */
const refuseLoss = `do $refuse$ begin
  if exists (select 1 from files where content is not null) or exists (select 1 from task_files where content is not null) then
    raise exception 'Files have content, which the release before this one cannot keep. Remove the records of files first, or restore a backup of the database that was made before the upgrade.';
  end if;
end $refuse$`;

/**
 * Files of tasks are a kind of their own, whose rights are those of the task; files have content. `files.task_id` goes at once, and not one release
 * later: no release that reads it has been published (0.1.0 is the first), so no process of an earlier one runs beside this migration.
 */
export class Migration20261122233623TaskFiles extends Migration {
  override up(): void | Promise<void> {
    this.addSql(
      `create table "task_files" ("id" text not null, "created_at" timestamptz not null, "updated_at" timestamptz not null, "created_by" text not null, "updated_by" text not null, "record_version" integer not null, "deleted_at" timestamptz null, "deleted_by" text null, "organization_id" text not null, "task_id" text not null, "content" text null, "name" text not null, "content_type" text not null, "size_bytes" bigint not null, "metadata" jsonb null, primary key ("id"));`,
    );
    this.addSql(`comment on table "task_files" is 'File of one task.';`);
    this.addSql(`comment on column "task_files"."task_id" is 'Task that the file belongs to.';`);
    this.addSql(`comment on column "task_files"."content" is 'Content.';`);
    this.addSql(`comment on column "task_files"."name" is 'File name; default: that of the upload.';`);
    this.addSql(`comment on column "task_files"."content_type" is 'Media type (MIME type) that the content has.';`);
    this.addSql(`comment on column "task_files"."size_bytes" is 'Size in bytes.';`);
    this.addSql(`comment on column "task_files"."metadata" is 'Metadata supplied by the uploader.';`);
    this.addSql(`create index "task_files_task_id_index" on "task_files" ("task_id");`);
    this.addSql(
      `create index "task_files_organization_id_id_index" on "task_files" ("organization_id", "id") where deleted_at is null;`,
    );
    this.addSql(
      `create index "task_files_organization_id_task_id_id_index" on "task_files" ("organization_id", "task_id", "id") where deleted_at is null;`,
    );
    this.addSql(
      `create index "task_files_organization_id_name_id_index" on "task_files" ("organization_id", "name", "id") where deleted_at is null;`,
    );
    this.addSql(
      `create index "task_files_organization_id_content_type_id_index" on "task_files" ("organization_id", "content_type", "id") where deleted_at is null;`,
    );
    this.addSql(
      `create index "task_files_organization_id_size_bytes_id_index" on "task_files" ("organization_id", "size_bytes", "id") where deleted_at is null;`,
    );
    this.addSql(
      `create index "task_files_organization_id_created_at_id_index" on "task_files" ("organization_id", "created_at", "id") where deleted_at is null;`,
    );
    this.addSql(
      `create index "task_files_organization_id_updated_at_id_index" on "task_files" ("organization_id", "updated_at", "id") where deleted_at is null;`,
    );

    for (const statement of moveFiles) this.addSql(statement);
    this.addSql(`alter table "files" drop constraint "files_task_id_foreign";`);

    this.addSql(`drop index "files_organization_id_task_id_id_index";`);
    this.addSql(`drop index "files_task_id_index";`);
    this.addSql(`alter table "files" drop column "task_id";`);
    this.addSql(`alter table "files" add "content" text null;`);
    this.addSql(`comment on column "files"."content" is 'Content. A change replaces it.';`);
    this.addSql(`comment on column "files"."name" is 'File name; default: that of the upload.';`);
    this.addSql(`comment on column "files"."content_type" is 'Media type (MIME type) that the content has.';`);
    this.addSql(
      `comment on table "files" is 'File of the organization. Files of other records, such as tasks, have kinds of their own.';`,
    );

    this.addSql(
      `alter table "task_files" add constraint "task_files_organization_id_foreign" foreign key ("organization_id") references "organizations" ("id") on update no action on delete restrict;`,
    );
    this.addSql(
      `alter table "task_files" add constraint "task_files_task_id_foreign" foreign key ("task_id") references "tasks" ("id") on update no action on delete restrict;`,
    );
    this.addSql(`alter table "task_files" enable row level security;`);
    this.addSql(
      `create policy "task_files_app" on "task_files" to "core_app" using (organization_id = current_setting('core.organization_id', true)) with check (organization_id = current_setting('core.organization_id', true));`,
    );
    this.addSql(
      `create policy "task_files_system" on "task_files" to "core_system" using (coalesce(current_setting('core.organization_id', true), '') = '' or organization_id = current_setting('core.organization_id', true)) with check (coalesce(current_setting('core.organization_id', true), '') = '' or organization_id = current_setting('core.organization_id', true));`,
    );
  }

  override down(): void | Promise<void> {
    this.addSql(refuseLoss);
    this.addSql(`alter table "files" drop column "content";`);
    this.addSql(`alter table "files" add "task_id" text null;`);
    for (const statement of moveBack) this.addSql(statement);
    this.addSql(`drop table if exists "task_files" cascade;`);
    this.addSql(`comment on column "files"."task_id" is 'Task that the file is attached to.';`);
    this.addSql(
      `alter table "files" add constraint "files_task_id_foreign" foreign key ("task_id") references "tasks" ("id") on update no action on delete restrict;`,
    );
    this.addSql(`comment on column "files"."name" is 'File name.';`);
    this.addSql(`comment on column "files"."content_type" is 'Media type (MIME type).';`);
    this.addSql(
      `create index "files_organization_id_task_id_id_index" on "files" ("organization_id", "task_id", "id") where deleted_at IS NULL;`,
    );
    this.addSql(`create index "files_task_id_index" on "files" ("task_id");`);
    this.addSql(`comment on table "files" is 'Metadata of a file; its content is in object storage.';`);
  }
}

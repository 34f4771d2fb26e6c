import { Migration } from '@mikro-orm/migrations';
import { changedFunction, undone, type Changes } from './changed-function.ts';

/** Whether a file can be downloaded, from the latest verdict on it and the setting of its organization; a file of none has no setting. */
const availability = `create function file_availability(verdict text, organization text) returns text
  language sql stable security definer set search_path = public, pg_temp as $$
  select case
    when verdict = 'infected' then 'infected'
    when verdict is null and exists (select 1 from organization_settings s
      where s.organization_id = organization and s.files_need_verdict and s.deleted_at is null) then 'awaiting_verdict'
    else 'available'
  end $$`;

const forDownload: Changes = [
  [`'verdict', o.verdict,`, `'availability', file_availability(o.verdict, o.organization_id),`],
];

/** Of several verdicts on one file in one request the worse one counts. */
const verdicts = `
    if doc ? 'verdicts' then
      perform 1 from stored_objects s where s.id in (select v ->> 'object' from jsonb_array_elements(doc -> 'verdicts') as v) order by s.id for update;
      update stored_objects s set verdict = v.verdict
        from (select object, organization, max(verdict) as verdict
          from jsonb_to_recordset(doc -> 'verdicts') as given (object text, organization text, verdict text) group by object, organization) as v
        where s.id = v.object and s.state = 'owned' and s.organization_id = v.organization;
      get diagnostics owned = row_count;
      if owned <> (select count(distinct v ->> 'object') from jsonb_array_elements(doc -> 'verdicts') as v) then
        raise exception 'The record has another file by now; the verdict is on none that is in use.' using errcode = 'CR410';
      end if;
    end if;`;

const afterOwnership = `jsonb_array_elements(doc -> 'objects') as o where (o ->> 'owned')::boolean);
    end if;`;
const writeRecords: Changes = [[afterOwnership, `${afterOwnership}${verdicts}`]];

/** Files of an organization that wants it are withheld until a scanner has found them clean. */
export class Migration20261123023058FileVerdicts extends Migration {
  override up(): void | Promise<void> {
    this.#addTables();
    this.addSql(availability);
    this.addSql('revoke all on function file_availability(text, text) from public');
    this.addSql('grant execute on function file_availability(text, text) to core_app, core_system');
    this.addSql(changedFunction('object_for_download(text)', forDownload));
    this.addSql(changedFunction('write_records(jsonb)', writeRecords));
  }

  #addTables(): void {
    this.addSql(
      `create table "file_verdicts" ("id" text not null, "created_at" timestamptz not null, "updated_at" timestamptz not null, "created_by" text not null, "updated_by" text not null, "record_version" integer not null, "deleted_at" timestamptz null, "deleted_by" text null, "organization_id" text not null, "object_id" text not null, "verdict" text not null, "scanner" text not null, "details" text null, "file_id" text null, "task_file_id" text null, primary key ("id"));`,
    );
    this.addSql(
      `comment on table "file_verdicts" is 'Verdict of a scanner on one stored file. The latest one counts.';`,
    );
    this.addSql(
      `comment on column "file_verdicts"."object_id" is 'Id of the stored file on which the verdict is: \`id\` of a StoredFile, not of the record that has it.';`,
    );
    this.addSql(`comment on column "file_verdicts"."verdict" is 'What the scanner found.';`);
    this.addSql(`comment on column "file_verdicts"."scanner" is 'Name and version of the scanner.';`);
    this.addSql(`comment on column "file_verdicts"."details" is 'What was found, in words of the scanner.';`);
    this.addSql(
      `comment on column "file_verdicts"."file_id" is 'File of the organization that has the stored file; null for another kind of record.';`,
    );
    this.addSql(
      `comment on column "file_verdicts"."task_file_id" is 'File of a task that has the stored file; null for another kind of record.';`,
    );
    this.addSql(`create index "file_verdicts_file_id_index" on "file_verdicts" ("file_id");`);
    this.addSql(`create index "file_verdicts_task_file_id_index" on "file_verdicts" ("task_file_id");`);
    this.addSql(
      `create index "file_verdicts_organization_id_id_index" on "file_verdicts" ("organization_id", "id") where deleted_at is null;`,
    );
    this.addSql(
      `create index "file_verdicts_organization_id_object_id_id_index" on "file_verdicts" ("organization_id", "object_id", "id") where deleted_at is null;`,
    );
    this.addSql(
      `create index "file_verdicts_organization_id_verdict_id_index" on "file_verdicts" ("organization_id", "verdict", "id") where deleted_at is null;`,
    );
    this.addSql(
      `create index "file_verdicts_organization_id_file_id_id_index" on "file_verdicts" ("organization_id", "file_id", "id") where deleted_at is null;`,
    );
    this.addSql(
      `create index "file_verdicts_organization_id_task_file_id_id_index" on "file_verdicts" ("organization_id", "task_file_id", "id") where deleted_at is null;`,
    );
    this.addSql(
      `create index "file_verdicts_organization_id_created_at_id_index" on "file_verdicts" ("organization_id", "created_at", "id") where deleted_at is null;`,
    );
    this.addSql(
      `create index "file_verdicts_organization_id_updated_at_id_index" on "file_verdicts" ("organization_id", "updated_at", "id") where deleted_at is null;`,
    );

    this.addSql(`alter table "organization_settings" add "files_need_verdict" boolean not null default 'false';`);
    this.addSql(`alter table "organization_settings" alter column "files_need_verdict" drop default;`);
    this.addSql(
      `comment on column "organization_settings"."files_need_verdict" is 'Whether files of the organization, also those that are there already, are withheld until an API token has reported them clean (FileVerdict). Pictures of people are not withheld.';`,
    );

    this.addSql(
      `alter table "file_verdicts" add constraint "file_verdicts_organization_id_foreign" foreign key ("organization_id") references "organizations" ("id") on update no action on delete restrict;`,
    );
    this.addSql(
      `alter table "file_verdicts" add constraint "file_verdicts_file_id_foreign" foreign key ("file_id") references "files" ("id") on update no action on delete restrict;`,
    );
    this.addSql(
      `alter table "file_verdicts" add constraint "file_verdicts_task_file_id_foreign" foreign key ("task_file_id") references "task_files" ("id") on update no action on delete restrict;`,
    );
    this.addSql(
      `alter table "file_verdicts" add constraint "file_verdicts_verdict_check" check (verdict in ('clean', 'infected'));`,
    );
    this.addSql(`alter table "file_verdicts" enable row level security;`);
    this.addSql(
      `create policy "file_verdicts_app" on "file_verdicts" to "core_app" using (organization_id = current_setting('core.organization_id', true)) with check (organization_id = current_setting('core.organization_id', true));`,
    );
    this.addSql(
      `create policy "file_verdicts_system" on "file_verdicts" to "core_system" using (coalesce(current_setting('core.organization_id', true), '') = '' or organization_id = current_setting('core.organization_id', true)) with check (coalesce(current_setting('core.organization_id', true), '') = '' or organization_id = current_setting('core.organization_id', true));`,
    );
  }

  override down(): void | Promise<void> {
    this.addSql(changedFunction('write_records(jsonb)', undone(writeRecords)));
    this.addSql(changedFunction('object_for_download(text)', undone(forDownload)));
    this.addSql('drop function file_availability(text, text)');
    this.addSql(`drop table if exists "file_verdicts" cascade;`);

    this.addSql(`alter table "organization_settings" drop column "files_need_verdict";`);
  }
}

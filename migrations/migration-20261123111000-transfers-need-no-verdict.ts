import { Migration } from '@mikro-orm/migrations';
import { changedFunction, undone, type Changes } from './changed-function.ts';

/**
 * Whether a file can be downloaded. Documents of exports are written by the server, and those of imports are read by it and shown to
 * whoever sent them, so no scanner, which sees neither, is waited for.
 */
const byOwner = `create function file_availability(verdict text, organization text, owner_kind text) returns text
  language sql stable security definer set search_path = public, pg_temp as $$
  select case
    when verdict = 'infected' then 'infected'
    when verdict is null and owner_kind not in ('export', 'import') and exists (select 1 from organization_settings s
      where s.organization_id = organization and s.files_need_verdict and s.deleted_at is null) then 'awaiting_verdict'
    else 'available'
  end $$`;

const byVerdict = `create function file_availability(verdict text, organization text) returns text
  language sql stable security definer set search_path = public, pg_temp as $$
  select case
    when verdict = 'infected' then 'infected'
    when verdict is null and exists (select 1 from organization_settings s
      where s.organization_id = organization and s.files_need_verdict and s.deleted_at is null) then 'awaiting_verdict'
    else 'available'
  end $$`;

const forDownload: Changes = [
  ['file_availability(o.verdict, o.organization_id)', 'file_availability(o.verdict, o.organization_id, o.owner_kind)'],
];

const withheld =
  'Whether files of the organization, also those that are there already, are withheld until an API token has reported them clean (FileVerdict).';

export class Migration20261123111000TransfersNeedNoVerdict extends Migration {
  override up(): void {
    this.#replace(byOwner, 'file_availability(text, text, text)', 'file_availability(text, text)', forDownload);
    this.#describe(`${withheld} Pictures of people and the documents of exports and imports are not withheld.`);
  }

  override down(): void {
    this.#replace(
      byVerdict,
      'file_availability(text, text)',
      'file_availability(text, text, text)',
      undone(forDownload),
    );
    this.#describe(`${withheld} Pictures of people are not withheld.`);
  }

  #describe(text: string): void {
    this.addSql(`comment on column "organization_settings"."files_need_verdict" is '${text}'`);
  }

  #replace(definition: string, made: string, dropped: string, changes: Changes): void {
    this.addSql(definition);
    this.addSql(`revoke all on function ${made} from public`);
    this.addSql(`grant execute on function ${made} to core_app, core_system`);
    this.addSql(changedFunction('object_for_download(text)', changes));
    this.addSql(`drop function ${dropped}`);
  }
}

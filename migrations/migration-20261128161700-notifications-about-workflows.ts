import { Migration } from '@mikro-orm/migrations';

const kinds = ['task', 'note', 'webhook_endpoint', 'export', 'organization', 'group'];
const workflows = ['workflow_definition', 'workflow_instance', 'workflow_assignment'];

/** The check is validated in this migration: it refuses nothing that was allowed before. */
export class Migration20261128161700NotificationsAboutWorkflows extends Migration {
  override up(): void | Promise<void> {
    this.#allow([...kinds, ...workflows]);
  }

  override down(): void | Promise<void> {
    this.addSql(`delete from "notifications" where "target_kind" in (${quoted(workflows)});`);
    this.#allow(kinds);
  }

  #allow(names: readonly string[]): void {
    this.addSql(`alter table "notifications" drop constraint if exists "notifications_target_kind_check";`);
    this.addSql(
      `alter table "notifications" add constraint "notifications_target_kind_check" check (target_kind in (${quoted(names)})) not valid;`,
    );
    this.addSql(`alter table "notifications" validate constraint "notifications_target_kind_check";`);
  }
}

function quoted(names: readonly string[]): string {
  return names.map((name) => `'${name}'`).join(', ');
}

import { Migration } from '@mikro-orm/migrations';

export class Migration0003WriteWalls extends Migration {
  override up(): void | Promise<void> {
    this.addSql(`drop policy "organizations_app" on "organizations";`);

    this.addSql(`drop policy "users_app" on "users";`);

    this.addSql(`drop policy "memberships_app" on "memberships";`);

    this.addSql(
      `create policy "organizations_app" on "organizations" to "core_app" using (exists (select 1 from memberships m where m.organization_id = organizations.id and m.user_id = current_setting('core.user_id', true) and m.deleted_at is null)) with check (id = current_setting('core.organization_id', true));`,
    );

    this.addSql(
      `create policy "users_app" on "users" to "core_app" using (id = current_setting('core.user_id', true) or exists (select 1 from memberships m where m.user_id = users.id and m.organization_id = current_setting('core.organization_id', true) and m.deleted_at is null)) with check (id = current_setting('core.user_id', true));`,
    );

    this.addSql(
      `create policy "memberships_app" on "memberships" to "core_app" using (organization_id = current_setting('core.organization_id', true) or user_id = current_setting('core.user_id', true)) with check (organization_id = current_setting('core.organization_id', true));`,
    );
  }

  override down(): void | Promise<void> {
    this.addSql(`drop policy "memberships_app" on "memberships";`);

    this.addSql(`drop policy "organizations_app" on "organizations";`);

    this.addSql(`drop policy "users_app" on "users";`);

    this.addSql(
      `create policy "memberships_app" on "memberships" to "core_app" using (organization_id = current_setting('core.organization_id', true) or user_id = current_setting('core.user_id', true)) with check (organization_id = current_setting('core.organization_id', true) or user_id = current_setting('core.user_id', true));`,
    );

    this.addSql(
      `create policy "organizations_app" on "organizations" to "core_app" using (exists (select 1 from memberships m where m.organization_id = organizations.id and m.user_id = current_setting('core.user_id', true) and m.deleted_at is null)) with check (exists (select 1 from memberships m where m.organization_id = organizations.id and m.user_id = current_setting('core.user_id', true) and m.deleted_at is null));`,
    );

    this.addSql(
      `create policy "users_app" on "users" to "core_app" using (id = current_setting('core.user_id', true) or exists (select 1 from memberships m where m.user_id = users.id and m.organization_id = current_setting('core.organization_id', true) and m.deleted_at is null)) with check (id = current_setting('core.user_id', true) or exists (select 1 from memberships m where m.user_id = users.id and m.organization_id = current_setting('core.organization_id', true) and m.deleted_at is null));`,
    );
  }
}

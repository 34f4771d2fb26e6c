import { Migration } from '@mikro-orm/migrations';

/** A listener is held when it fails for several organizations; which ones they are is kept with the count of its failures. */
export class Migration20261123210000FailingOrganizations extends Migration {
  override up(): void {
    // '' stands for events without an organization.
    this.addSql(`alter table listener_states add column organizations text[] not null default '{}'`);
  }

  override down(): void {
    this.addSql('alter table listener_states drop column organizations');
  }
}

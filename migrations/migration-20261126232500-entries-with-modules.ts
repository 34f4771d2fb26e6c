import { Migration } from '@mikro-orm/migrations';
import { changedFunction, undone, type Changes } from './changed-function.ts';

/** It asks for the state of a person in an organization, of which those who sign in or go on elsewhere need more than the role. */
const changes: Changes = [
  ['gap text)', 'gap text, modules text[], lacks_second_factor boolean)'],
  [' from request_context(', ', c.modules, c.lacks_second_factor from request_context('],
];

const organizationEntry = 'organization_entry(text, text, text)';

const privileges = [
  `revoke all on function ${organizationEntry} from public`,
  `grant execute on function ${organizationEntry} to core_app, core_system`,
];

export class Migration20261126232500EntriesWithModules extends Migration {
  override up(): void {
    this.addSql(changedFunction(organizationEntry, changes, { isAnew: true }));
    for (const statement of privileges) this.addSql(statement);
  }

  override down(): void {
    this.addSql(changedFunction(organizationEntry, undone(changes), { isAnew: true }));
    for (const statement of privileges) this.addSql(statement);
  }
}

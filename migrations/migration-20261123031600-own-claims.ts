import { Migration } from '@mikro-orm/migrations';
import { changedFunction, undone, type Changes } from './changed-function.ts';

const named = `and u.organization_id is not distinct from doc ->> 'organization_id'`;
const changes: Changes = [
  [
    named,
    `${named}
        and u.organization_id is not distinct from nullif(current_setting('core.organization_id', true), '')`,
  ],
];

/** Uploads are claimed in the organization of the transaction, whatever organization the claim names. */
export class Migration20261123031600OwnClaims extends Migration {
  override up(): void | Promise<void> {
    this.addSql(changedFunction('claim_uploads(jsonb)', changes));
  }

  override down(): void | Promise<void> {
    this.addSql(changedFunction('claim_uploads(jsonb)', undone(changes)));
  }
}

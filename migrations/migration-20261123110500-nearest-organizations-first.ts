import { Migration } from '@mikro-orm/migrations';
import { changedFunction, undone, type Changes } from './changed-function.ts';

/**
 * Roles pass down along the chain of organizations in the order in which it is read, and without ORDER BY an aggregate has any order.
 * In another one, owners by their role in a parent organization were refused changes of what is part of a record.
 */
const nearestFirst: Changes = [
  [
    `select c.id as scope, true as is_organization from (with recursive`,
    `select c.id as scope, true as is_organization, c.depth from (with recursive`,
  ],
  [
    `) select chain.id from chain) c
      union all select 'system', false`,
    `) select chain.id, chain.depth from chain) c
      union all select 'system', false, 0`,
  ],
  [`select array_agg(s.scope) filter`, `select array_agg(s.scope order by s.depth) filter`],
];

export class Migration20261123110500NearestOrganizationsFirst extends Migration {
  override up(): void | Promise<void> {
    this.addSql(changedFunction('authorization_state(text)', nearestFirst));
  }

  override down(): void | Promise<void> {
    this.addSql(changedFunction('authorization_state(text)', undone(nearestFirst)));
  }
}

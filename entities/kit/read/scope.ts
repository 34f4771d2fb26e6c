import { sql } from 'kysely';
import type { Caller } from '../model/caller.ts';
import type { EntityModule } from '../model/define.ts';
import { isSwitchedOn } from '../model/product-modules.ts';
import { column } from '../storage/column.ts';
import type { Sql } from '../storage/sql.ts';

/** Live rows of the caller's tenancy; none of a kind whose product module the organization does not have. */
export function scopePredicate(module: EntityModule, alias: string, caller: Caller): Sql {
  if (!isSwitchedOn(module, caller)) return sql`false`;
  return sql`${column(alias, 'deletedAt')} is null and ${tenancyPredicate(module, alias, caller)}`;
}

/** First wall: the tenant filter. A caller without organization sees no tenant rows. */
function tenancyPredicate(module: EntityModule, alias: string, caller: Caller): Sql {
  if (module.tenancy !== 'organization' || module.rlsUsing) return sql`true`;
  if (caller.organizationId !== null) return sql`${column(alias, 'organizationId')} = ${caller.organizationId}`;
  return caller.kind === 'system' ? sql`true` : sql`false`;
}

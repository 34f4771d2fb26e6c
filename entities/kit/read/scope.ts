import { sql } from 'kysely';
import type { EntityModule } from '../model/define.ts';
import { column } from '../storage/column.ts';
import type { Sql } from '../storage/sql.ts';
import type { Viewer } from './viewer.ts';

/** Predicate for the live rows of the caller's tenancy; false for a kind whose product module the organization does not have. */
export function scopePredicate(module: EntityModule, alias: string, viewer: Viewer): Sql {
  if (!viewer.isModuleEnabled(module)) return sql`false`;
  return sql`${column(alias, 'deletedAt')} is null and ${tenancyPredicate(module, alias, viewer)}`;
}

/** The tenant filter; row-level security repeats it in the database. A caller without organization sees no tenant rows. */
function tenancyPredicate(module: EntityModule, alias: string, viewer: Viewer): Sql {
  if (module.tenancy !== 'organization') return viewer.isConfined ? reachedPredicate(module, alias, viewer) : sql`true`;
  // Records of other organizations, such as one's own memberships, are out of reach of confined callers.
  if (module.rlsUsing && !viewer.isConfined) return sql`true`;
  return inCurrentOrganization(alias, viewer);
}

/** Predicate for the records of a list that no other record leads to: of what is the caller's own elsewhere, it has nothing. */
export function listScope({ tenancy, rlsUsing }: EntityModule, alias: string, viewer: Viewer): Sql {
  return tenancy === 'organization' && rlsUsing ? inCurrentOrganization(alias, viewer) : sql`true`;
}

function inCurrentOrganization(alias: string, viewer: Viewer): Sql {
  if (viewer.organizationId) return sql`${column(alias, 'organizationId')} = ${viewer.organizationId}`;
  return viewer.kind === 'system' ? sql`true` : sql`false`;
}

/** Predicate for the records that a confined caller (`confinement.ts`) reaches, of a kind that belongs to no organization. */
function reachedPredicate({ confinedReach }: EntityModule, alias: string, viewer: Viewer): Sql {
  switch (confinedReach) {
    case undefined:
      return sql`false`;
    case 'view':
      return sql`true`;
    case 'organization':
    case 'session': {
      const id = confinedReach === 'session' ? viewer.sessionId : viewer.organizationId;
      return id ? sql`${column(alias, 'id')} = ${id}` : sql`false`;
    }
    default:
      confinedReach satisfies never;
      throw new Error('unknown reach');
  }
}

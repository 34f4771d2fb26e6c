import { sql } from 'kysely';
import type { EntityModule } from '../model/define.ts';
import type { RecordedChange } from '../model/recorded-changes.ts';
import type { Registry } from '../model/registry.ts';
import { compileSql } from '../storage/sql.ts';
import { leavesOf } from './change-behaviour.ts';
import type { ChangeWork } from './change-work.ts';
import { deleteRows } from './delete-rows.ts';

/** How many records of a deleted organization are still there. */
export async function countContents(work: ChangeWork, owner: EntityModule, organizationId: string): Promise<number> {
  const counts = contentsOf(work.registry, owner).map(
    ({ table }) =>
      sql`(select count(*) from ${sql.table(table)} as row where row.organization_id = ${organizationId} and row.deleted_at is null)`,
  );
  const { text, values } = compileSql(sql`select (${sql.join(counts, sql` + `)})::float8 as count`);
  return (await work.rowsAsSystem<{ count: number }>(text, values))[0]?.count ?? 0;
}

/**
 * Soft-deletes some of the records of a deleted organization, of one kind, with their dependents. It raises no events: the deletion of the
 * organization was announced.
 * @param kinds of the records; all that are removed later when left out
 * @returns whether there may be more
 */
export async function removeSomeContents(
  work: ChangeWork,
  owner: EntityModule,
  organizationId: string,
  limit: number,
  kinds: readonly EntityModule[] = contentsOf(work.registry, owner),
): Promise<boolean> {
  for (const module of kinds) {
    let count = 0;
    await work.changeRows('system', module, async (session) => {
      // The last ones first: what depends on a record of the same kind is younger than it, so few go along with others.
      const which = sql`row.id in (select gone.id from ${sql.table(module.table)} as gone where gone.organization_id = ${organizationId}
        and gone.deleted_at is null and exists (select 1 from ${sql.table(owner.table)} as owner
          where owner.id = ${organizationId} and owner.deleted_at is not null) order by gone.id desc limit ${limit} for update of gone)`;
      const deleted = await deleteRows(session, module, which, work);
      count = deleted.length;
      return deleted.map((change): RecordedChange => ({ ...change, isCascaded: true }));
    });
    if (count > 0) return true;
  }
  return false;
}

/** The kinds that are removed later, those first on which others do not depend. */
function contentsOf(registry: Registry, owner: EntityModule): EntityModule[] {
  const leaves = leavesOf(owner);
  const kinds = registry.modules.filter((module) => leaves?.(module));
  const ordered: EntityModule[] = [];
  const visited = new Set<EntityModule>();
  const visit = (module: EntityModule) => {
    if (visited.has(module)) return;
    visited.add(module);
    for (const other of kinds)
      if (Object.values(other.fields).some(({ target }) => target === module.kind)) visit(other);
    ordered.push(module);
  };
  for (const module of kinds) visit(module);
  return ordered;
}

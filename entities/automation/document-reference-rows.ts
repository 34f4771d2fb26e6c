import type { Registry } from '../kit/model/registry.ts';
import type { Work } from '../kit/storage/work.ts';

interface Reference {
  readonly kind: string;
  readonly id: string;
}

/** Those of some references whose record an organization does not have; for `user`: who is no member of it. */
export async function missingReferences<R extends Reference>(
  work: Work,
  registry: Registry,
  organizationId: string,
  references: readonly R[],
): Promise<R[]> {
  const missing: R[] = [];
  for (const [kind, own] of Map.groupBy(references, (reference) => reference.kind)) {
    const { table, tenancy } =
      kind === 'user' ? { table: 'memberships', tenancy: 'organization' } : registry.byKind(kind);
    const column = kind === 'user' ? 'user_id' : 'id';
    if (tenancy !== 'organization') continue;
    // The table is that of a declared kind.
    const rows = await work.rowsAsSystem<{ id: string }>(
      `select ${column} as id from ${table} where organization_id = $1 and ${column} = any($2) and deleted_at is null`,
      [organizationId, [...new Set(own.map(({ id }) => id))]],
    );
    const known = new Set(rows.map(({ id }) => id));
    missing.push(...own.filter(({ id }) => !known.has(id)));
  }
  return missing;
}

/** Definitions of those of some integrations that an organization has, by their ids; null for one that was recorded without a definition. */
export async function definitionsOfIntegrations(
  work: Work,
  organizationId: string,
  ids: readonly string[],
): Promise<ReadonlyMap<string, string | null>> {
  if (ids.length === 0) return new Map();
  const rows = await work.rowsAsSystem<{ id: string; definition_id: string | null }>(
    'select id, definition_id from integrations where organization_id = $1 and id = any($2) and deleted_at is null',
    [organizationId, [...new Set(ids)]],
  );
  return new Map(rows.map(({ id, definition_id }) => [id, definition_id]));
}

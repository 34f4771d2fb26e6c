import type { Entitlement } from '../kit/model/product-modules.ts';
import type { Work } from '../kit/storage/work.ts';

/** The product modules of an organization and of those above it, sorted by module and source. */
export async function heldModules(work: Work, organizationId: string): Promise<Entitlement[]> {
  const session = await work.readAs('system');
  const { rows } = await session.query<Entitlement>(
    `select m.module, m.source, m.ends_at as "endsAt" from organization_modules m
     where m.organization_id in (select c.id from organization_chain($1) c) and m.deleted_at is null
     order by m.module, m.source, m.ends_at desc nulls first`,
    [organizationId],
  );
  return rows;
}

import type { Work } from '../kit/storage/work.ts';

/** An integration whose status a lapse changes. */
interface ConcernedIntegration {
  readonly id: string;
  /** Its status; after the lapse, that of before. */
  readonly status: 'pending' | 'connected' | 'errored';
}

/**
 * The integrations of an organization and of those below it that are to be disabled, or that a lapse has disabled. Each has another status
 * once it was changed, and is not found again.
 */
export async function integrationsOfLapse(
  work: Work,
  organizationId: string,
  { isLapsed, limit }: { readonly isLapsed: boolean; readonly limit: number },
): Promise<ConcernedIntegration[]> {
  const session = await work.readAs('system');
  const { rows } = await session.query<ConcernedIntegration>(
    `with recursive below as (select $1::text as id union all
       select o.id from organizations o join below on o.parent_id = below.id where o.deleted_at is null)
     select i.id, case when $2 then i.status else i.status_before_lapse end as status
     from integrations i join below on below.id = i.organization_id where i.deleted_at is null
       and case when $2 then i.status in ('pending', 'connected', 'errored') else i.status_before_lapse is not null end
     order by i.id limit $3`,
    [organizationId, isLapsed, limit],
  );
  return rows;
}

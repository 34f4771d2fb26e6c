import type { Work } from '../kit/storage/work.ts';
import type { RowOf } from '../kit/model/define.ts';
import type { integration } from './integration.ts';

/** Ids of integrations of an organization, which may be deleted, that have a credential or are being disconnected. */
export async function connectedIntegrations(work: Work, organizationId: string, limit: number): Promise<string[]> {
  const rows = await work.rowsAsSystem<{ readonly id: string }>(
    `select id from integrations where organization_id = $1 and deleted_at is null
       and (credential_ref is not null or status = 'disconnecting') order by id limit $2`,
    [organizationId, limit],
  );
  return rows.map(({ id }) => id);
}

/** Whether another integration, of whichever organization, uses the same account at the other system. */
export async function isAccountShared(
  work: Work,
  { id, definitionId, accountId }: Pick<RowOf<typeof integration>, 'id' | 'definitionId' | 'accountId'>,
): Promise<boolean> {
  const rows = await work.rowsAsSystem(
    `select 1 from integrations where definition_id = $2 and account_id = $3 and id <> $1 and deleted_at is null
       and status in ('connected', 'errored', 'disabled') and credential_ref is not null limit 1`,
    [id, definitionId, accountId],
  );
  return rows.length > 0;
}

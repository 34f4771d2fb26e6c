import type { Work } from '../kit/storage/work.ts';
import { pendingLifetimeMs } from './pending-lifetime.ts';

/** Time that a round of a loop has before somebody looks after it, in milliseconds. */
const lateAfterMs = 3_600_000;

/** Time before the end of a credential at which the person responsible is notified, in milliseconds: two weeks. */
const announcedBeforeMs = 14 * 86_400_000;

/** An integration that needs an action. */
export interface DueIntegration {
  readonly id: string;
  readonly organizationId: string;
  readonly need: 'remove' | 'limit' | 'probe' | 'finish' | 'resume' | 'announce';
  /** Since when (RFC 3339). */
  readonly due: string;
}

export interface DueSelection {
  readonly now: Date;
  readonly limit: number;
  /** Position of the last one before them. */
  readonly after?: readonly string[];
  readonly only?: string;
}

/**
 * Integrations that are due, the oldest first: those that nobody has connected in time, or that have no time by which they are removed, those that do not work and are to be looked at,
 * disconnections that do not end, connected ones of which the next round is late, and those whose credential ends soon. One that needs
 * several actions is there with the oldest.
 */
export async function dueIntegrations(
  work: Work,
  { now, limit, after = [], only }: DueSelection,
): Promise<DueIntegration[]> {
  const [due = null, id = null] = after;
  return work.rowsAsSystem<DueIntegration & { readonly [name: string]: unknown }>(
    `with wanted as (
       select id, organization_id, case when expires_at is null then 'limit' else 'remove' end as need,
           coalesce(expires_at, created_at + $8::float8 * interval '1 ms') as at from integrations
         where deleted_at is null and status = 'pending' and ($6::text is null or id = $6)
       union all select id, organization_id, case status when 'errored' then 'probe' else 'finish' end, next_probe_at from integrations
         where deleted_at is null and status in ('errored', 'disconnecting') and ($6::text is null or id = $6)
       union all select id, organization_id, 'resume', next_sync_at + $2::float8 * interval '1 ms' from integrations
         where deleted_at is null and status = 'connected' and ($6::text is null or id = $6)
       union all select i.id, i.organization_id, 'announce', min(s.expires_at) - $3::float8 * interval '1 ms'
         from secrets s join integrations i on i.id = s.integration_id and i.credential_ref = s.credential_ref
         where s.deleted_at is null and s.expires_at > $1 and i.deleted_at is null and i.status = 'connected'
           and i.expiry_announced_at is null and ($6::text is null or i.id = $6) group by i.id, i.organization_id),
     found as (select distinct on (id) id, organization_id, need, at from wanted where at <= $1 order by id, at)
     select id, organization_id as "organizationId", need, to_char(at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') as due
       from found where $4::timestamptz is null or (at, id) > ($4::timestamptz, $5::text) order by at, id limit $7`,
    [now, lateAfterMs, announcedBeforeMs, due, id, only ?? null, limit, pendingLifetimeMs],
  );
}

/** When the credential with which an integration is connected ends; null if it does not, or nobody knows. */
export async function endOfStoredCredential(work: Work, integrationId: string): Promise<Date | null> {
  const rows = await work.rowsAsSystem<{ readonly at: Date | null }>(
    `select s.expires_at as at from secrets s join integrations i on i.id = s.integration_id and i.credential_ref = s.credential_ref
     where i.id = $1 and s.deleted_at is null`,
    [integrationId],
  );
  return rows[0]?.at ?? null;
}

/** The next integrations that wait to be connected and have no time by which they are removed. */
export async function pendingWithoutExpiry(
  work: Work,
  { after, limit }: { readonly after: string; readonly limit: number },
): Promise<string[]> {
  const rows = await work.rowsAsSystem<{ readonly id: string }>(
    `select id from integrations where deleted_at is null and status = 'pending' and expires_at is null and id > $1 order by id limit $2`,
    [after, limit],
  );
  return rows.map(({ id }) => id);
}

/** Which of these still wait to be connected and have no such time. */
export async function stillWithoutExpiry(work: Work, ids: readonly string[]): Promise<string[]> {
  const rows = await work.rowsAsSystem<{ readonly id: string }>(
    `select id from integrations where deleted_at is null and status = 'pending' and expires_at is null and id = any($1)`,
    [ids],
  );
  return rows.map(({ id }) => id);
}

import type { Work } from '../kit/storage/work.ts';

/** A round of sending to one endpoint. */
interface ShareRequest {
  readonly endpointId: string;
  readonly organizationId: string;
  /** Endpoints of an organization that are sent to at the same time, at most. */
  readonly share: number;
  /** Time after which the round is treated as lost. */
  readonly roundMs: number;
  /** Pause of an endpoint that gets no slot. */
  readonly pauseMs: number;
}

/**
 * Takes a slot of the organization for a round: without a share, the endpoints of one organization could occupy all workers. `saveQueue` of
 * the queue gives the slot back.
 * @returns `last` when no further endpoint of the organization gets one
 */
export async function takeShare(
  work: Work,
  { endpointId, organizationId, share, roundMs, pauseMs }: ShareRequest,
): Promise<'taken' | 'last' | 'none'> {
  const now = work.clock.now();
  await work.runAsSystem(`select pg_advisory_xact_lock(hashtextextended('webhook-share:' || $1, 0))`, [organizationId]);
  const rows = await work.rowsAsSystem<{ others: number }>(
    `select count(*)::int as others from webhook_queues
     where organization_id = $1 and endpoint_id <> $2 and sending_until > $3`,
    [organizationId, endpointId, now],
  );
  const others = rows[0]?.others ?? 0;
  const isTaken = others < share;
  await work.runAsSystem(
    `insert into webhook_queues as held (endpoint_id, organization_id, sending_until, next_at) values ($1, $2, $3, coalesce($4::timestamptz, '-infinity'))
     on conflict (endpoint_id) do update set organization_id = excluded.organization_id, sending_until = excluded.sending_until,
       next_at = coalesce($4, held.next_at)`,
    [
      endpointId,
      organizationId,
      isTaken ? new Date(now.getTime() + roundMs) : null,
      isTaken ? null : new Date(now.getTime() + pauseMs),
    ],
  );
  if (!isTaken) return 'none';
  return others + 1 === share ? 'last' : 'taken';
}

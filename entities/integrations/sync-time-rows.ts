import type { Work } from '../kit/storage/work.ts';

/**
 * Notes when records of a connected integration last came in, and when they come in next: of several loops, the earliest. It is an
 * observation of the server: it has no version, no history and no event.
 */
export async function noteSync(
  work: Work,
  integrationId: string,
  {
    lastSyncAt,
    nextSyncAt,
    isSole,
  }: {
    readonly lastSyncAt: Date | null;
    readonly nextSyncAt: Date;
    /** The integration has no other loop. */
    readonly isSole: boolean;
  },
): Promise<void> {
  await work.runAsSystem(
    `update integrations set last_sync_at = coalesce($2, last_sync_at),
       next_sync_at = case when next_sync_at > $4 and not $5 then least(next_sync_at, $3) else $3 end
     where id = $1 and deleted_at is null and status = 'connected'`,
    [integrationId, lastSyncAt, nextSyncAt, work.clock.now(), isSole],
  );
}

/** Notes that records of a connected integration came in now. An observation, like the above. */
export async function noteArrival(work: Work, integrationId: string): Promise<void> {
  await work.runAsSystem(
    `update integrations set last_sync_at = $2 where id = $1 and deleted_at is null and status = 'connected'`,
    [integrationId, work.clock.now()],
  );
}

import type { Work } from '../kit/storage/work.ts';

/**
 * Gives this process the right to renew the credential of an integration for some time, unless another one has it. It is no change of the
 * record: it has no version, no history and no event.
 * @returns the end of the lease, by which it is known; undefined while another process has one
 */
export async function takeRefreshLease(work: Work, integrationId: string, leaseMs: number): Promise<Date | undefined> {
  const now = work.clock.now();
  const until = new Date(now.getTime() + leaseMs);
  const taken = await work.runAsSystem(
    `update integrations set refreshing_until = $2
      where id = $1 and deleted_at is null and (refreshing_until is null or refreshing_until <= $3)`,
    [integrationId, until, now],
  );
  return taken === 1 ? until : undefined;
}

/** Ends a lease, unless another process has taken it over meanwhile. */
export async function endRefreshLease(work: Work, integrationId: string, until: Date): Promise<void> {
  await work.runAsSystem('update integrations set refreshing_until = null where id = $1 and refreshing_until = $2', [
    integrationId,
    until,
  ]);
}

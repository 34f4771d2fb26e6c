import type { UnitOfWork } from '../../kit/unit/unit-of-work.ts';
import { integration } from '../integration.ts';
import type { Integration } from './stored-credential.ts';

/** Time that a disconnection has before somebody looks after it, in milliseconds. */
const finishedWithinMs = 3_600_000;

/**
 * Begins to disconnect an integration; a workflow, which a listener wakes, does the rest.
 * @param unit with the rights of the server
 * @param held locked
 */
export async function beginDisconnect(
  { data, clock }: Pick<UnitOfWork, 'data' | 'clock'>,
  { id, status }: Integration,
  { keepsRecords }: { readonly keepsRecords: boolean },
): Promise<void> {
  await data.update(integration, id, {
    status: 'disconnecting',
    statusBeforeLapse: null,
    keepsRecords,
    expiresAt: null,
    nextSyncAt: null,
    // Asked for once more, it begins no new time.
    ...(status === 'disconnecting'
      ? {}
      : { probes: 0, nextProbeAt: new Date(clock.now().getTime() + finishedWithinMs) }),
  });
}

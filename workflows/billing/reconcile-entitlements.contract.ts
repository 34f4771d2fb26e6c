import type { ActivityQueue } from '../kit/activity-queue.ts';
import { defineContract } from '../kit/contract.ts';

export interface ReconcileEntitlementsInput {
  readonly queue: ActivityQueue;
  readonly organizationId: string;
}

/** Says that something about the customer may have changed. */
export const wakeSignalName = 'wake';

/** Asks for a comparison: differences that it finds were reported by nobody. */
export const compareSignalName = 'compare';

/**
 * Brings what an organization may use to what its customer pays for. Its queue is not that of messages to endpoints, which hang. A wake is
 * a row first (`keepWakes`), from which the server sends it.
 */
export const reconcileEntitlementsContract = defineContract<ReconcileEntitlementsInput>({
  name: 'reconcileEntitlements',
  queue: 'organizations',
  wakeSignal: wakeSignalName,
  workflowId: ({ organizationId }) => `entitlements/${organizationId}`,
});

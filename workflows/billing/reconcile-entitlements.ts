import { continueAsNew, defineSignal, proxyActivities, setHandler } from '@temporalio/workflow';
import type { BillingActivities } from '#activities/billing/billing-activities.ts';
import { activityOptions } from '../kit/activity-queue.ts';
import {
  compareSignalName,
  wakeSignalName,
  type ReconcileEntitlementsInput,
} from './reconcile-entitlements.contract.ts';

export const wakeSignal = defineSignal(wakeSignalName);
export const compareSignal = defineSignal(compareSignalName);

/** Rounds after which it continues as new. */
const maxRounds = 100;

/** A round makes up to ten requests, each of which the provider may answer late. */
const minAttemptTimeoutMs = 180_000;

/**
 * One round for all wakes that wait. A wake that comes during a round causes another one, because the round may have read before what the
 * wake reports.
 */
export async function reconcileEntitlements(input: ReconcileEntitlementsInput): Promise<void> {
  const { queue, organizationId } = input;
  const options = activityOptions(queue);
  const { reconcileOrganization } = proxyActivities<BillingActivities>({
    ...options,
    startToCloseTimeout: Math.max(options.startToCloseTimeout, minAttemptTimeoutMs),
    // Until the provider is back. It says itself how long it takes no requests.
    retry: { ...options.retry, maximumAttempts: Infinity, maximumInterval: '5 minutes' },
  });
  let [isWoken, isToCompare] = [false, false];
  setHandler(wakeSignal, () => {
    isWoken = true;
  });
  setHandler(compareSignal, () => {
    isToCompare = true;
  });
  for (let round = 0; round < maxRounds; round++) {
    const isComparison = isToCompare && !isWoken;
    isWoken = isToCompare = false;
    await reconcileOrganization({ organizationId, isComparison });
    if (!isWoken && !isToCompare) return;
  }
  await continueAsNew<typeof reconcileEntitlements>(input);
}

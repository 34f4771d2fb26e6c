import { proxyActivities } from '@temporalio/workflow';
import type { CodeHostActivities } from '#activities/integrations/code-host-activities.ts';
import { activityOptions } from '../kit/activity-queue.ts';
import type { RedeliverCodeHostEventsInput, RedeliveryReport } from './redeliver-code-host-events.contract.ts';

/** A run makes few attempts, because the schedule starts the next one within an hour. */
export async function redeliverCodeHostEvents({ queue }: RedeliverCodeHostEventsInput): Promise<RedeliveryReport> {
  const options = activityOptions(queue);
  const { findFailedDeliveries, requestDelivery } = proxyActivities<CodeHostActivities>({
    ...options,
    retry: { ...options.retry, maximumAttempts: 3 },
  });
  const failed = await findFailedDeliveries();
  let requested = 0;
  for (const deliveryId of failed) if (await requestDelivery({ deliveryId })) requested++;
  return { failed: failed.length, requested };
}

import { proxyLocalActivities } from '@temporalio/workflow';
import type { EventActivities } from '#activities/events/event-activities.ts';
import type { DeliverEventsInput } from './deliver-events.contract.ts';
import { startDelivery } from './start-delivery.ts';

/**
 * A local activity, because the round trip through the server would be most of the time between commit and listener. It fails
 * as a whole only while the database is unavailable, so it is tried until that ends.
 */
const { deliverBatch } = proxyLocalActivities<EventActivities>({
  startToCloseTimeout: '5 minutes',
  localRetryThreshold: '1 minute',
  retry: { initialInterval: '100 milliseconds', maximumInterval: '30 seconds' },
});

/** Delivers a batch. Deliveries that keep failing get a workflow of their own, and hold up no others. */
export async function deliverEvents({ batchId }: DeliverEventsInput): Promise<{ delivered: number; failing: number }> {
  const { delivered, failing } = await deliverBatch({ batchId });
  await Promise.all(failing.map(startDelivery));
  return { delivered, failing: failing.length };
}

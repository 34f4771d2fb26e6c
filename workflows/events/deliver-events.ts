import { proxyLocalActivities } from '@temporalio/workflow';
import type { EventActivities } from '#activities/events/event-activities.ts';
import type { DeliverEventsInput } from './deliver-events.contract.ts';
import { startDelivery } from './start-delivery.ts';

/**
 * A local activity: it saves a round trip through the server, which is most of the time between commit and listener. It
 * fails as a whole only when the database is away, so it is tried until that is over.
 */
const { deliverBatch } = proxyLocalActivities<EventActivities>({
  startToCloseTimeout: '5 minutes',
  localRetryThreshold: '1 minute',
  retry: { initialInterval: '100 milliseconds', maximumInterval: '30 seconds' },
});

/** Delivers a batch. Deliveries that keep failing get a workflow of their own; nobody else waits for them. */
export async function deliverEvents({ batchId }: DeliverEventsInput): Promise<{ delivered: number; failing: number }> {
  const { delivered, failing } = await deliverBatch({ batchId });
  await Promise.all(failing.map(startDelivery));
  return { delivered, failing: failing.length };
}

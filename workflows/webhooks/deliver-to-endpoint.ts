import {
  condition,
  continueAsNew,
  defineSignal,
  proxyActivities,
  setHandler,
  workflowInfo,
} from '@temporalio/workflow';
import type { WebhooksActivities } from '#activities/webhooks/webhooks-activities.ts';
import { activityOptions } from '../kit/activity-queue.ts';
import { wakeSignalName, type DeliverToEndpointInput } from './deliver-to-endpoint.contract.ts';

export const wakeSignal = defineSignal(wakeSignalName);

/** Rounds after which it continues as new, so that long backlogs pick up new code. */
const maxRounds = 200;

/** A round with its last attempts, in milliseconds: a shorter JobTimeout would cut attempts off before anybody learns how they ended. */
const minAttemptTimeoutMs = 45_000;

/**
 * Sends what is due, then sleeps until the next message is due or a signal comes; without any message, it ends. A signal that comes during
 * a round begins another one: what it stands for may have been committed after the round had looked.
 */
export async function deliverToEndpoint(input: DeliverToEndpointInput): Promise<void> {
  const { queue, endpointId, organizationId } = input;
  // The attempts of messages are counted in their rows; what fails here is the database or the process.
  const options = activityOptions(queue);
  const startToCloseTimeout = Math.max(options.startToCloseTimeout, minAttemptTimeoutMs);
  const { sendMessages } = proxyActivities<WebhooksActivities>({ ...options, startToCloseTimeout });
  let isWoken = false;
  setHandler(wakeSignal, () => {
    isWoken = true;
  });
  for (let round = 0; round < maxRounds && !workflowInfo().continueAsNewSuggested; round++) {
    isWoken = false;
    const { waitMs } = await sendMessages({ endpointId, organizationId });
    if (isWoken) continue;
    if (waitMs === null) return;
    if (waitMs > 0) await condition(() => isWoken, waitMs);
  }
  await continueAsNew<typeof deliverToEndpoint>(input);
}

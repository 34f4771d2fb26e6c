import { activityOptions, type ActivityQueue } from '../kit/activity-queue.ts';

/** Task queue of work with other systems. It is not that of messages to endpoints, so that neither waits for the other. */
export const integrationsQueue = 'integrations';

/** A page may take several requests, each of which the other system may answer late. */
const minAttemptTimeoutMs = 120_000;

/** Settings of activities that take pages over. They begin no page after half of their time. */
export function pageOptions(queue: ActivityQueue) {
  const options = activityOptions(queue);
  const startToCloseTimeout = Math.max(options.startToCloseTimeout, minAttemptTimeoutMs);
  return { options: { ...options, startToCloseTimeout }, budgetMs: startToCloseTimeout / 2 };
}

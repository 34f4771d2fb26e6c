import { Context } from '@temporalio/activity';
import { defineActivities } from '../kit/activity-dependencies.ts';
import type { Target, WebhookDependencies } from './endpoint-queue.ts';
import { HeldBodies } from './held-bodies.ts';
import { sendMessages } from './send-messages.ts';

export type WebhooksActivities = ReturnType<typeof createWebhooksActivities>;

/** Messages that are sent to the URLs of customers. */
export const createWebhooksActivities = defineActivities((dependencies: WebhookDependencies) => {
  const held = new HeldBodies();
  return {
    /** @returns the time until the next message is due; null when none is */
    sendMessages: (target: Target): Promise<{ readonly waitMs: number | null }> =>
      sendMessages(dependencies, { target, held, signal: Context.current().cancellationSignal }),
  };
});

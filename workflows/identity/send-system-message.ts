import { isCancellation, proxyActivities } from '@temporalio/workflow';
import type { ChatActivities } from '#activities/notifications/chat-activities.ts';
import { activityOptions } from '../kit/activity-queue.ts';
import type { SendSystemMessageInput } from './send-system-message.contract.ts';

/** Posts one message at most once: what an attempt has left open is not sent again. */
export async function sendSystemMessage(
  input: SendSystemMessageInput,
): Promise<'sent' | 'uncertain' | 'failed' | 'outdated' | 'not configured'> {
  const options = activityOptions(input.queue);
  const { postSystemMessage } = proxyActivities<ChatActivities>({
    ...options,
    // Nobody needs it after two days; until then the workflow waits for the platform, or for another token.
    scheduleToCloseTimeout: '2 days',
    retry: { initialInterval: '1 second', maximumInterval: '5 minutes' },
  });
  try {
    return await postSystemMessage(input);
  } catch (error) {
    if (isCancellation(error)) throw error;
    const { giveUpSystemMessage } = proxyActivities<ChatActivities>({
      ...options,
      retry: { initialInterval: '1 second', maximumInterval: '5 minutes' },
    });
    await giveUpSystemMessage(input);
    throw error;
  }
}

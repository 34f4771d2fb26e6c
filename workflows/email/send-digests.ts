import { isCancellation, proxyActivities } from '@temporalio/workflow';
import type { EmailActivities } from '#activities/email/email-activities.ts';
import { activityOptions } from '../kit/activity-queue.ts';
import type { SendDigestsInput, SentDigests } from './send-digests.contract.ts';

/** Sends the mails of some digests in one request. What is left open by an attempt is handed to a workflow of its own. */
export async function sendDigests(input: SendDigestsInput): Promise<SentDigests> {
  const { deliverDigests } = proxyActivities<EmailActivities>({
    ...activityOptions(input.queue),
    // As for a single mail: it waits for the provider for two days.
    scheduleToCloseTimeout: '2 days',
    retry: { initialInterval: '1 second', maximumInterval: '5 minutes' },
  });
  try {
    return await deliverDigests(input);
  } catch (error) {
    if (isCancellation(error)) throw error;
    const { giveUpDigests } = proxyActivities<EmailActivities>({
      ...activityOptions(input.queue),
      retry: { initialInterval: '1 second', maximumInterval: '5 minutes' },
    });
    await giveUpDigests(input);
    throw error;
  }
}

import { isCancellation, proxyActivities } from '@temporalio/workflow';
import type { EmailActivities } from '#activities/email/email-activities.ts';
import { activityOptions } from '../kit/activity-queue.ts';
import type { SendEmailInput, SendEmailResult } from './send-email.contract.ts';

/** Sends one mail, exactly once: what an attempt has left open is asked before the next one sends. */
export async function sendEmail(input: SendEmailInput): Promise<SendEmailResult> {
  const { deliverEmail } = proxyActivities<EmailActivities>({
    ...activityOptions(input.queue),
    // A mail that could not be sent for two days is useless; until then the workflow waits for the provider.
    scheduleToCloseTimeout: '2 days',
    retry: { initialInterval: '1 second', maximumInterval: '5 minutes' },
  });
  try {
    return await deliverEmail(input);
  } catch (error) {
    if (isCancellation(error)) throw error;
    // The record says so as well; it is in the database, which may be what has failed.
    const { giveUpEmail } = proxyActivities<EmailActivities>({
      ...activityOptions(input.queue),
      retry: { initialInterval: '1 second', maximumInterval: '5 minutes' },
    });
    await giveUpEmail(input);
    throw error;
  }
}

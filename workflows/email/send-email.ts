import { proxyActivities } from '@temporalio/workflow';
import type { EmailActivities } from '#activities/email/email-activities.ts';
import { activityOptions } from '../kit/activity-queue.ts';
import type { SendEmailInput } from './send-email.contract.ts';

/** Sends one mail, exactly once: the key goes to the provider, which recognizes a repeated attempt. */
export async function sendEmail(input: SendEmailInput): Promise<'sent' | 'outdated'> {
  const { deliverEmail } = proxyActivities<EmailActivities>({
    ...activityOptions(input.queue),
    // A mail that could not be sent for two days is useless; until then the workflow waits for the provider.
    scheduleToCloseTimeout: '2 days',
    retry: { initialInterval: '1 second', maximumInterval: '5 minutes' },
  });
  return deliverEmail(input);
}

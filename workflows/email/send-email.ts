import { proxyActivities } from '@temporalio/workflow';
import type { EmailActivities } from '#activities/email/activities.ts';
import type { SendEmailInput } from './send-email.contract.ts';

/** Sends one mail, exactly once: the key goes to the provider, so a repeated attempt is the same mail. */
export async function sendEmail(input: SendEmailInput): Promise<'sent' | 'outdated'> {
  const { deliverEmail } = proxyActivities<EmailActivities>({
    taskQueue: input.taskQueue,
    startToCloseTimeout: '1 minute',
    // A mail that could not be sent for two days is of no use any more.
    scheduleToCloseTimeout: '2 days',
    retry: { initialInterval: '1 second', maximumInterval: '5 minutes' },
  });
  return deliverEmail(input);
}

import { proxyActivities } from '@temporalio/workflow';
import type { EmailActivities } from '#activities/email/email-activities.ts';
import { activityOptions } from '../kit/activity-queue.ts';
import type { ReleaseAddressInput } from './release-address.contract.ts';

/** Makes the providers of e-mail send to an address again. */
export async function releaseAddress(input: ReleaseAddressInput): Promise<void> {
  const activities = proxyActivities<EmailActivities>({
    ...activityOptions(input.queue),
    // The provider may be down, or its key wrong, for a while; the address is released here already.
    scheduleToCloseTimeout: '2 days',
    retry: { initialInterval: '1 second', maximumInterval: '5 minutes' },
  });
  await activities.releaseAddress(input);
}

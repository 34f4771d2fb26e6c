import { proxyActivities } from '@temporalio/workflow';
import type { OrganizationsActivities } from '#activities/organizations/organizations-activities.ts';
import { activityOptions } from '../kit/activity-queue.ts';
import type { AnnouncedOutcome, DeleteAnnouncedInput } from './delete-announced.contract.ts';

/** The rows say whether it is deleted; an attempt after a crash finds what the one before has done. */
export async function deleteAnnounced(input: DeleteAnnouncedInput): Promise<AnnouncedOutcome> {
  const { deleteAnnouncedOrganization } = proxyActivities<OrganizationsActivities>({
    ...activityOptions(input.queue),
    retry: { initialInterval: '1 second', maximumInterval: '5 minutes' },
  });
  return deleteAnnouncedOrganization(input);
}

import { proxyActivities } from '@temporalio/workflow';
import type { OrganizationsActivities } from '#activities/organizations/organizations-activities.ts';
import { activityOptions } from '../kit/activity-queue.ts';
import type { SetUpOrganizationInput } from './set-up-organization.contract.ts';

/** Suggests the first tasks of an organization. @returns how many it created */
export async function setUpOrganization(input: SetUpOrganizationInput): Promise<number> {
  const { suggestTasks } = proxyActivities<OrganizationsActivities>({
    ...activityOptions(input.queue),
    // A person who has worked in the organization for a day needs no suggestions for the beginning any more.
    scheduleToCloseTimeout: '1 day',
    retry: { initialInterval: '1 second', maximumInterval: '5 minutes' },
  });
  return suggestTasks(input);
}

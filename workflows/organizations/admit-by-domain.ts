import { proxyActivities } from '@temporalio/workflow';
import type { OrganizationsActivities } from '#activities/organizations/organizations-activities.ts';
import { activityOptions } from '../kit/activity-queue.ts';
import type { AdmitByDomainInput } from './admit-by-domain.contract.ts';

/** @returns the number of organizations that the person has joined */
export async function admitByDomain(input: AdmitByDomainInput): Promise<number> {
  const { admitNewcomer } = proxyActivities<OrganizationsActivities>({
    ...activityOptions(input.queue),
    // Name servers may be away; after a day, an invitation is the shorter way.
    scheduleToCloseTimeout: '1 day',
    retry: { initialInterval: '1 second', maximumInterval: '5 minutes' },
  });
  return admitNewcomer(input);
}

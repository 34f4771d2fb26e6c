import { endSurplusMemberships } from '#entities/integrations/connections/end-surplus-memberships.ts';
import { systemCaller } from '#entities/kit/model/caller.ts';
import { workContext } from '../../clients/temporal/work-origin.ts';
import { defineActivities } from '../../kit/activity-dependencies.ts';
import { provisionPage } from './provision-accounts.ts';

export type ProvisioningActivities = ReturnType<typeof createProvisioningActivities>;

export const createProvisioningActivities = defineActivities(({ database, textRecords, logger }) => ({
  /** Ends some memberships of accounts that are inactive or gone. @returns where the next call begins; undefined after the last one */
  endMemberships: ({
    integrationId,
    after,
  }: {
    readonly integrationId: string;
    readonly after: string;
  }): Promise<string | undefined> =>
    database.transact(workContext(systemCaller('provision from directory'), `provision-${integrationId}`), (unit) =>
      endSurplusMemberships(unit, integrationId, { after }),
    ),

  /** Decides about the accounts of a page. @returns where the next page begins; undefined after the last one */
  provisionAccounts: ({
    integrationId,
    after,
  }: {
    readonly integrationId: string;
    readonly after: string;
  }): Promise<string | undefined> => provisionPage({ database, textRecords, logger }, integrationId, after),
}));

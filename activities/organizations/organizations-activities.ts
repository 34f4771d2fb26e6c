import { systemCaller } from '#entities/kit/model/caller.ts';
import { customEvent } from '#entities/kit/write/custom-events.ts';
import { membership } from '#entities/organizations/membership.ts';
import { organization } from '#entities/organizations/organization.ts';
import { task } from '#entities/work/task.ts';
import type { SetUpOrganizationInput } from '#workflows/organizations/set-up-organization.contract.ts';
import type { AdmitByDomainInput } from '#workflows/organizations/admit-by-domain.contract.ts';
import type { AnnouncedOutcome, DeleteAnnouncedInput } from '#workflows/organizations/delete-announced.contract.ts';
import { workContext } from '../clients/temporal/work-origin.ts';
import { defineActivities, type ActivityDependencies } from '../kit/activity-dependencies.ts';
import { deleteAnnouncedOrganization } from './delete-announced-organization.ts';
import { admitNewcomer } from './admit-newcomer.ts';
import { suggestedTasks } from './suggested-tasks.ts';

export type OrganizationsActivities = ReturnType<typeof createOrganizationsActivities>;

export const createOrganizationsActivities = defineActivities(
  ({ database, textRecords }: Pick<ActivityDependencies, 'database' | 'textRecords'>) => ({
    /** Creates the suggested tasks that are not there, for the owner. @returns how many it created */
    async suggestTasks({ organizationId }: SetUpOrganizationInput): Promise<number> {
      const context = workContext(
        systemCaller('set up organization', organizationId),
        `set-up-organization-${organizationId}`,
      );
      return database.transact(context, async (unit) => {
        const { data } = unit;
        // Locked, so that of two attempts the second finds what the first has created.
        const found = await data.findLocked(organization, organizationId);
        // Deleted meanwhile.
        if (!found) return 0;
        const owner = await data.findOne(membership, { organizationId: { eq: found.id }, role: { eq: 'owner' } });
        const held = await data.find(task, {
          where: { organizationId: { eq: found.id }, externalId: { in: suggestedTasks.map((one) => one.externalId) } },
          limit: suggestedTasks.length,
        });
        const known = new Set(held.map(({ externalId }) => externalId));
        const missing = suggestedTasks.filter(({ externalId }) => !known.has(externalId));
        if (missing.length === 0) return 0;
        await data.createAll(
          missing.map((suggested) => ({
            module: task,
            input: { ...suggested, organizationId: found.id, assigneeId: owner?.userId ?? null },
            path: '',
          })),
        );
        const event = { ...found, organizationId: found.id };
        unit.emit(customEvent(organization, 'ready', event, { tasks: missing.length }));
        return missing.length;
      });
    },

    /** @returns the number of organizations that the person has joined */
    admitNewcomer: ({ userId }: AdmitByDomainInput): Promise<number> =>
      admitNewcomer({ database, textRecords }, userId),

    deleteAnnouncedOrganization: ({ organizationId }: DeleteAnnouncedInput): Promise<AnnouncedOutcome> =>
      deleteAnnouncedOrganization(database, organizationId),
  }),
);

import { organization } from '#entities/organizations/organization.ts';
import { setUpOrganizationContract } from '#workflows/organizations/set-up-organization.contract.ts';
import { on } from '#entities/kit/model/events.ts';
import { defineListener } from '../listener.ts';

/** Starts what an organization that somebody founded gets after it is there. Nobody begins with one that the server made, or alone. */
export const beginSetUp = defineListener(
  'set-up-organization',
  [on(organization, 'created')],
  async ({ event, unit, start }) => {
    const found = await unit.data.findOne(organization, { id: { eq: event.entityId } });
    if (found && found.founderId !== null && !found.isPersonal)
      start(setUpOrganizationContract, { organizationId: found.id });
  },
);

import { organizationRemoval } from '#entities/organizations/organization-removal.ts';
import { removeOrganizationContract } from '#workflows/organizations/remove-organization.contract.ts';
import { on } from '#entities/kit/model/events.ts';
import { defineListener } from '../listener.ts';

/** Removes what belonged to a deleted organization. */
export const beginRemoval = defineListener(
  'remove-organization',
  [on(organizationRemoval, 'created')],
  ({ event, start }) => {
    start(removeOrganizationContract, { removalId: event.entityId });
  },
);

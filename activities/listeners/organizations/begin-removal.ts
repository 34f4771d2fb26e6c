import { organizationRemoval } from '#entities/organizations/organization-removal.ts';
import { removeOrganizationContract } from '#workflows/organizations/remove-organization.contract.ts';
import { defineListener, on } from '../listener.ts';

/** Removes what belonged to a deleted organization. */
export const beginRemoval = defineListener(
  'remove-organization',
  [on(organizationRemoval, 'created')],
  ({ event, start }) => {
    start(removeOrganizationContract, { removalId: event.entityId });
  },
);

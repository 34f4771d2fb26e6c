import { organizationRemoval } from '#entities/organizations/organization-removal.ts';
import { restoreOrganizationContract } from '#workflows/organizations/restore-organization.contract.ts';
import { on } from '#entities/kit/model/events.ts';
import { defineListener } from '../listener.ts';

/** Restores a deleted organization when an operator has asked for it. */
export const beginRestoration = defineListener(
  'restore-organization',
  [on(organizationRemoval, 'undo_requested')],
  ({ event, start }) => {
    start(restoreOrganizationContract, { removalId: event.entityId });
  },
);

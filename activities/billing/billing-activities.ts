import type { RemoveOrganizationInput } from '#workflows/organizations/remove-organization.contract.ts';
import { defineActivities } from '../kit/activity-dependencies.ts';
import { cancelSubscriptions } from './cancel-subscriptions.ts';
import { reconcileOrganization, type RoundRequest } from './reconcile-organization.ts';
import type { BillingDependencies } from './round-parts.ts';
import { retriedAsAsked } from './payment-retries.ts';

export type BillingActivities = ReturnType<typeof createBillingActivities>;

/** Work on the customers of the payment provider. No request to it is made inside a transaction. */
export const createBillingActivities = defineActivities((deps: BillingDependencies) => ({
  /** One round: reads the customer of an organization and writes what follows from it. */
  reconcileOrganization: (request: RoundRequest): Promise<void> =>
    retriedAsAsked(() => reconcileOrganization(deps, request)),

  /** Ends the subscriptions of a deleted organization; those that have ended stay as they are. */
  cancelSubscriptions: ({ removalId }: Pick<RemoveOrganizationInput, 'removalId'>): Promise<void> =>
    retriedAsAsked(() => cancelSubscriptions(deps, removalId)),
}));

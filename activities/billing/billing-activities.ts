import { defineActivities } from '../kit/activity-dependencies.ts';
import { reconcileOrganization, type RoundRequest } from './reconcile-organization.ts';
import type { BillingDependencies } from './round-parts.ts';
import { retriedAsAsked } from './payment-retries.ts';

export type BillingActivities = ReturnType<typeof createBillingActivities>;

/** Work on the customers of the payment provider. No request to it is made inside a transaction. */
export const createBillingActivities = defineActivities((deps: BillingDependencies) => ({
  /** One round: reads the customer of an organization and writes what follows from it. */
  reconcileOrganization: (request: RoundRequest): Promise<void> =>
    retriedAsAsked(() => reconcileOrganization(deps, request)),
}));

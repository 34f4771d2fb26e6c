import { cancelSubscriptions } from '#activities/billing/cancel-subscriptions.ts';
import { retriedAsAsked } from '#activities/billing/payment-retries.ts';
import { defineRemovalStep } from './define-removal-step.ts';

export const cancelSubscriptionsStep = defineRemovalStep({
  name: 'cancelSubscriptions',
  description: 'Ends the subscriptions of the organization at the payment provider.',
  after: [],
  run: (deps, { id }) => retriedAsAsked(() => cancelSubscriptions(deps, id)),
});

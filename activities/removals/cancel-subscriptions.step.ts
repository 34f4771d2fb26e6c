import { cancelSubscriptions } from '../billing/cancel-subscriptions.ts';
import { retriedAsAsked } from '../billing/payment-retries.ts';
import { defineRemovalStep } from './define-removal-step.ts';

export const cancelSubscriptionsStep = defineRemovalStep({
  name: 'cancelSubscriptions',
  description: 'Ends the subscriptions of the organization at the payment provider.',
  after: [],
  run: (deps, { id }) => retriedAsAsked(() => cancelSubscriptions(deps, id)),
});

import { trialLookupKeys } from '#entities/billing/catalogue/catalogue.ts';
import { isLive } from '#entities/billing/live-subscription.ts';
import type { CustomerState } from '#entities/billing/provider-state.ts';
import { failpoint } from '#entities/kit/base/failpoint.ts';
import { changeBilling } from './billing-row.ts';
import { isKeySpent, type RoundParts } from './round-parts.ts';

/**
 * Gives the trial that began with the organization to the provider, which ends it or makes it a paid subscription. A customer who has had
 * one, or has any subscription meanwhile, gets none: with a card, it would become a second one to pay.
 * @returns whether the provider has one now that it did not have before
 * @throws PaymentFailure
 */
export async function ensureTrial(
  { provider, catalogue, transact, round }: RoundParts,
  customerId: string,
  { subscriptions }: CustomerState,
  now: Date,
): Promise<boolean> {
  const { organizationId, trialEndsAt: endsAt, trialGeneration: generation } = round.billing;
  if (endsAt === null || endsAt <= now) return false;
  if (subscriptions.some((one) => one.isTrialOfServer || isLive(one))) return false;
  const order = { organizationId, lookupKeys: trialLookupKeys(catalogue), endsAt };
  try {
    await provider.startTrial(customerId, order, `${organizationId}/trial/${generation}`);
  } catch (error) {
    if (!isKeySpent(error)) throw error;
    const after = await provider.readCustomer(customerId);
    if (after.subscriptions.some(({ isTrialOfServer }) => isTrialOfServer)) return true;
    await transact((unit) =>
      changeBilling(unit, organizationId, (held) =>
        held.trialGeneration === generation ? { trialGeneration: generation + 1 } : undefined,
      ),
    );
    throw error;
  }
  failpoint('billing-trial-started');
  return true;
}

import { entitles } from '#entities/billing/entitlements.ts';
import type { CustomerState } from '#entities/billing/provider-state.ts';
import type { RoundParts } from './round-parts.ts';

/**
 * Ends the trial when a checkout has begun a subscription: at its end, the trial would become a second one.
 * @returns whether there was such a trial
 * @throws PaymentFailure
 */
export async function endReplacedTrial(
  { provider, catalogue }: RoundParts,
  { subscriptions }: CustomerState,
): Promise<boolean> {
  const trials = subscriptions.filter(({ isTrialOfServer, status }) => isTrialOfServer && status === 'trialing');
  if (trials.length === 0 || !subscriptions.some((one) => !trials.includes(one) && entitles(one, catalogue)))
    return false;
  for (const { id } of trials) await provider.cancelNow(id);
  return true;
}

import { entitles } from '#entities/billing/entitlements.ts';
import { isPurchased, isTrial } from '#entities/billing/live-subscription.ts';
import type { CustomerState } from '#entities/billing/provider-state.ts';
import type { RoundParts } from './round-parts.ts';

/**
 * Ends the trial when there is another subscription: the trial would become a second one to pay. Beside one that gives nothing, such as one
 * for a price outside the catalogue, it gives its modules until its end.
 * @returns whether something was changed
 * @throws PaymentFailure
 */
export async function endReplacedTrial(
  { provider, catalogue }: RoundParts,
  { subscriptions }: CustomerState,
): Promise<boolean> {
  const others = subscriptions.filter(isPurchased);
  const isReplaced = others.some((one) => entitles(one, catalogue));
  const trials = subscriptions.filter((one) => isTrial(one) && (isReplaced || one.cancelsAt === null));
  if (others.length === 0 || trials.length === 0) return false;
  for (const { id } of trials) await (isReplaced ? provider.cancelNow(id) : provider.setCancelAtPeriodEnd(id, true));
  return true;
}

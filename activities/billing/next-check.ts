import type { Catalogue } from '#entities/billing/catalogue/catalogue.ts';
import type { Entitlement } from '#entities/kit/model/product-modules.ts';
import type { ProviderSubscription } from '#entities/billing/provider-state.ts';
import { entitles } from '#entities/billing/entitlements.ts';

/** Time before the end of a trial at which people are notified of it, in milliseconds. */
const trialNoticeMs = 3 * 86_400_000;

/**
 * End of the trial of which people are notified; undefined while there is none, or another subscription continues after it.
 * @param ownTrialEndsAt of the trial that the provider does not have yet
 */
export function endingTrial(
  subscriptions: readonly ProviderSubscription[],
  ownTrialEndsAt: Date | null,
  catalogue: Catalogue,
  now: Date,
): Date | undefined {
  const end = trialEnd(subscriptions, ownTrialEndsAt, catalogue);
  return end !== undefined && end > now && end.getTime() - trialNoticeMs <= now.getTime() ? end : undefined;
}

function trialEnd(
  subscriptions: readonly ProviderSubscription[],
  ownTrialEndsAt: Date | null,
  catalogue: Catalogue,
): Date | undefined {
  const entitling = subscriptions.filter((one) => entitles(one, catalogue));
  if (entitling.some(({ status }) => status !== 'trialing')) return undefined;
  const ends = entitling.flatMap(({ trialEndsAt }) => trialEndsAt ?? []);
  if (ends.length > 0) return new Date(Math.max(...ends.map((end) => end.getTime())));
  return subscriptions.some(({ isTrialOfServer }) => isTrialOfServer) ? undefined : (ownTrialEndsAt ?? undefined);
}

/** The next time at which something ends or is due, after which the customer is read although nobody reports anything; null for never. */
export function nextCheck(
  subscriptions: readonly ProviderSubscription[],
  modules: readonly Entitlement[],
  ownTrialEndsAt: Date | null,
  catalogue: Catalogue,
  now: Date,
): Date | null {
  const end = trialEnd(subscriptions, ownTrialEndsAt, catalogue);
  const times = [
    ...subscriptions
      .filter(({ endedAt }) => endedAt === null)
      .flatMap((one) => [one.trialEndsAt, one.periodEndsAt, one.cancelsAt, one.nextPaymentAttempt]),
    ...modules.map(({ endsAt }) => endsAt),
    ...(end ? [end, new Date(end.getTime() - trialNoticeMs)] : []),
  ].filter((time) => time !== null && time > now);
  return times.length === 0 ? null : new Date(Math.min(...times.map((time) => time?.getTime() ?? Infinity)));
}

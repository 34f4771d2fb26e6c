import type { Entitlement } from '../kit/model/product-modules.ts';
import type { RowOf } from '../kit/model/define.ts';
import type { SubscriptionFacts } from './entitlements.ts';
import type { organizationPrice } from './organization-price.ts';
import type { organizationSubscription } from './organization-subscription.ts';

export type StoredSubscription = Pick<
  RowOf<typeof organizationSubscription>,
  'id' | 'externalId' | 'status' | 'trialEndsAt' | 'cancelsAt' | 'nextAttemptAt' | 'isTrialOfServer'
>;

export type StoredPrice = Pick<
  RowOf<typeof organizationPrice>,
  'subscriptionId' | 'externalId' | 'lookupKey' | 'quantity'
>;

/** Subscriptions of an organization as its rows have them, for `entitlementsOf`. */
export function storedFacts(
  subscriptions: readonly StoredSubscription[],
  prices: readonly StoredPrice[],
): SubscriptionFacts[] {
  return subscriptions.map(({ id, externalId, nextAttemptAt, ...subscription }) => ({
    ...subscription,
    id: externalId ?? id,
    nextPaymentAttempt: nextAttemptAt,
    items: prices
      .filter(({ subscriptionId }) => subscriptionId === id)
      .map((price) => ({ priceId: price.externalId ?? '', lookupKey: price.lookupKey, quantity: price.quantity })),
  }));
}

/** Differences between the modules that an organization has and those that follow from the facts, one sentence each. */
export function moduleDifferences(held: readonly Entitlement[], wanted: readonly Entitlement[]): string[] {
  const keyOf = ({ module, source }: Entitlement) => `${module} (${source})`;
  const ends = (rows: readonly Entitlement[]) => new Map(rows.map((row) => [keyOf(row), row.endsAt] as const));
  const [before, after] = [ends(held), ends(wanted)];
  return [...new Set([...before.keys(), ...after.keys()])].toSorted().flatMap((key) => {
    const [has, should] = [before.get(key), after.get(key)];
    if (has === undefined) return [`The module ${key} is missing.`];
    if (should === undefined) return [`The module ${key} is there, and nothing gives it.`];
    return has?.getTime() === should?.getTime()
      ? []
      : [`The module ${key} ends ${at(has)}, and should end ${at(should)}.`];
  });
}

function at(end: Date | null): string {
  return end === null ? 'never' : end.toISOString();
}

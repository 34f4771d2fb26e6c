import type { Entitlement, ModuleSource, ProductModule } from '../kit/model/product-modules.ts';
import { priceIn, trialModules, type Catalogue } from './catalogue/catalogue.ts';
import type { ProviderItem, ProviderSubscription } from './provider-state.ts';

/** Duration of the trial of a new organization, in milliseconds. */
const trialMs = 30 * 86_400_000;

/** The part of a subscription that decides; our rows of it have it, too. */
export interface SubscriptionFacts extends Pick<
  ProviderSubscription,
  'id' | 'status' | 'trialEndsAt' | 'cancelsAt' | 'nextPaymentAttempt' | 'isTrialOfServer'
> {
  readonly items: readonly Pick<ProviderItem, 'priceId' | 'lookupKey' | 'quantity'>[];
}

/** Everything that decides which modules an organization has. */
export interface EntitlementFacts {
  /** All of its customer at the provider, in any order. */
  readonly subscriptions: readonly SubscriptionFacts[];
  /** Trial of the server (`organizationBilling`). It applies until the provider has a subscription for it, which then decides. */
  readonly trialEndsAt: Date | null;
  /** Grants of operators. */
  readonly grants: readonly Omit<Entitlement, 'source'>[];
  readonly now: Date;
}

export interface Entitlements {
  /** Sorted by module and source, which are unique together. */
  readonly modules: readonly Entitlement[];
  /** Nothing but the base is left: no subscription, no trial, no grant. */
  readonly isLapsed: boolean;
  /** For operators: a sentence each. */
  readonly problems: readonly string[];
}

/**
 * The modules that follow from the facts. Everything that writes, compares or reports modules uses this function, so the rows of an
 * organization can be recomputed at any time.
 */
export function entitlementsOf(facts: EntitlementFacts, catalogue: Catalogue): Entitlements {
  const { subscriptions, trialEndsAt, now } = facts;
  const entitling = subscriptions.filter((one) => entitles(one, catalogue));
  const items = entitling.flatMap((subscription) => subscription.items.map((item) => ({ subscription, item })));
  const current = subscriptions
    .filter(isCurrent)
    .flatMap(({ id, items: parts }) => parts.map((item) => ({ id, item })));
  const grants = facts.grants.filter(({ endsAt }) => endsAt === null || endsAt > now);
  const isOnTrial =
    trialEndsAt !== null && trialEndsAt > now && !subscriptions.some(({ isTrialOfServer }) => isTrialOfServer);
  const modules = [
    ...catalogue.flatMap(({ isBase, module }) => (isBase && module ? entitlement(module, 'base', null) : [])),
    ...(isOnTrial ? trialModules(catalogue).map((module) => entitlement(module, 'trial', trialEndsAt)) : []),
    ...items.flatMap(({ subscription, item }) => {
      const module = item.quantity > 0 ? priceIn(catalogue, item.lookupKey)?.entry.module : undefined;
      return module ? entitlementIn(subscription, module) : [];
    }),
    ...grants.map(({ module, endsAt }) => entitlement(module, 'granted', endsAt)),
  ];
  return {
    modules: longestOfEach(modules),
    isLapsed: entitling.length === 0 && !isOnTrial && grants.length === 0,
    problems: [
      ...(entitling.length > 1
        ? [
            `Several subscriptions apply, and their modules add up: ${entitling
              .map(({ id }) => id)
              .toSorted()
              .join(', ')}.`,
          ]
        : []),
      ...subscriptions
        .filter(({ status }) => !knownStatuses.has(status))
        .map(({ id, status }) => `The status "${status}" of the subscription ${id} is not known, and gives no module.`),
      ...current
        .filter(({ item }) => !priceIn(catalogue, item.lookupKey))
        .map(
          ({ id, item: { priceId, lookupKey } }) =>
            `The price ${priceId} (lookup key ${lookupKey ?? 'missing'}) of the subscription ${id} is not in the catalogue, and gives no module.`,
        ),
    ].toSorted(),
  };
}

/**
 * Whether a subscription gives its modules and prevents a lapse: it is current, and has a price of the catalogue that costs something. Free
 * prices come along with such a one.
 */
export function entitles(subscription: SubscriptionFacts, catalogue: Catalogue): boolean {
  return (
    isCurrent(subscription) &&
    subscription.items.some(
      ({ lookupKey, quantity }) => quantity > 0 && (priceIn(catalogue, lookupKey)?.price.unitAmount ?? 0) > 0,
    )
  );
}

/** A subscription that is overdue is current as long as the provider has scheduled another attempt to be paid. */
function isCurrent({ status, nextPaymentAttempt }: SubscriptionFacts): boolean {
  return status === 'trialing' || status === 'active' || (status === 'past_due' && nextPaymentAttempt !== null);
}

const knownStatuses = new Set([
  'trialing',
  'active',
  'past_due',
  'incomplete',
  'canceled',
  'incomplete_expired',
  'unpaid',
  'paused',
]);

/** Trial of a new organization. */
export interface Trial {
  readonly endsAt: Date;
  readonly modules: readonly Entitlement[];
}

/** The trial that begins now. */
export function newTrial(catalogue: Catalogue, now: Date): Trial {
  const endsAt = new Date(now.getTime() + trialMs);
  const { modules } = entitlementsOf({ subscriptions: [], trialEndsAt: endsAt, grants: [], now }, catalogue);
  return { endsAt, modules };
}

function entitlement(module: ProductModule, source: ModuleSource, endsAt: Date | null): Entitlement {
  return { module, source, endsAt };
}

/** A trial at the provider ends or becomes a paid subscription; that one ends only when it is cancelled. */
function entitlementIn({ status, trialEndsAt, cancelsAt }: SubscriptionFacts, module: ProductModule): Entitlement {
  return status === 'trialing'
    ? entitlement(module, 'trial', cancelsAt ?? trialEndsAt)
    : entitlement(module, 'subscription', cancelsAt);
}

/** One entitlement for each module and source: the one that ends last. */
function longestOfEach(modules: readonly Entitlement[]): Entitlement[] {
  const byKey = Map.groupBy(modules, ({ module, source }) => `${module} ${source}`);
  return [...byKey.keys()].toSorted().flatMap((key) => (byKey.get(key) ?? []).toSorted(endsLaterFirst).slice(0, 1));
}

function endsLaterFirst(one: Entitlement, other: Entitlement): number {
  return (other.endsAt?.getTime() ?? Infinity) - (one.endsAt?.getTime() ?? Infinity) || 0;
}

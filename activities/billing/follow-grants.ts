import type { Catalogue } from '#entities/billing/catalogue/catalogue.ts';
import { entitlementsOf } from '#entities/billing/entitlements.ts';
import { organizationBilling } from '#entities/billing/organization-billing.ts';
import { organizationPrice } from '#entities/billing/organization-price.ts';
import { organizationSubscription } from '#entities/billing/organization-subscription.ts';
import { storedFacts } from '#entities/billing/stored-facts.ts';
import type { UnitOfWork } from '#entities/kit/unit/unit-of-work.ts';
import { organizationModule } from '#entities/organizations/organization-module.ts';
import type { Billing } from './billing-row.ts';
import { followState } from './follow-lapse.ts';

/** Most rows of one organization. */
const limit = 1_000;

/**
 * Ends or begins a lapse as the grants of an organization say now, with its subscriptions as they are stored. Before its customer was read
 * for the first time nothing is known of them, and the reading decides.
 * @param billing locked
 */
export async function followGrants(unit: UnitOfWork, billing: Billing, catalogue: Catalogue): Promise<void> {
  if (billing.reconciledAt === null) return;
  const { data, clock } = unit;
  const { organizationId, trialEndsAt } = billing;
  const where = { organizationId: { eq: organizationId } };
  const subscriptions = await data.find(organizationSubscription, { where, limit });
  const prices = await data.find(organizationPrice, { where, limit });
  const modules = await data.find(organizationModule, { where, limit });
  const facts = {
    subscriptions: storedFacts(subscriptions, prices),
    trialEndsAt,
    grants: modules.filter(({ source }) => source === 'granted'),
    now: clock.now(),
  };
  const { isLapsed } = entitlementsOf(facts, catalogue);
  if (isLapsed === billing.isLapsed) return;
  await followState(unit, billing, await data.update(organizationBilling, billing.id, { isLapsed }));
}

import type { Catalogue } from '#entities/billing/catalogue/catalogue.ts';
import { entitlementsOf } from '#entities/billing/entitlements.ts';
import { organizationBilling } from '#entities/billing/organization-billing.ts';
import type { CustomerState } from '#entities/billing/provider-state.ts';
import { moduleDifferences } from '#entities/billing/stored-facts.ts';
import type { Entitlement } from '#entities/kit/model/product-modules.ts';
import type { RowOf } from '#entities/kit/model/define.ts';
import type { DataClient } from '#entities/kit/unit/data-client.ts';
import type { UnitOfWork } from '#entities/kit/unit/unit-of-work.ts';
import { customEvent } from '#entities/kit/write/custom-events.ts';
import { organizationModule } from '#entities/organizations/organization-module.ts';
import { organization } from '#entities/organizations/organization.ts';
import { lockBilling, type Billing } from './billing-row.ts';
import { roundTimeMs } from './draw-round.ts';
import { followState } from './follow-lapse.ts';
import { endingTrial, nextCheck } from './next-check.ts';
import { spareIfPaid } from './spare-if-paid.ts';
import { writeSubscriptions } from './write-subscriptions.ts';

type Module = RowOf<typeof organizationModule>;

/** A reading of a customer, to be written. */
export interface ReadRound {
  readonly number: number;
  readonly organizationId: string;
  readonly state: CustomerState;
  readonly catalogue: Catalogue;
  /** Requests that the provider has refused, one sentence each. */
  readonly problems: readonly string[];
  readonly isComparison: boolean;
}

/** Most modules of one organization: each from each source. */
const maxModules = 500;

/** Most characters of problems and differences that are kept. */
const maxText = 4_000;

/**
 * Writes what follows from a reading.
 * @returns the differences to what was there, one sentence each; `outdated`: a later round has written; `removed`: the organization was
 * deleted meanwhile
 */
export async function writeRound(
  unit: UnitOfWork,
  round: ReadRound,
): Promise<readonly string[] | 'outdated' | 'removed'> {
  const { data } = unit;
  const { number, organizationId, state, catalogue, isComparison } = round;
  // Locked first, as a deletion locks it.
  const home = await data.findLocked(organization, organizationId);
  const billing = home && (await lockBilling(unit, organizationId));
  if (!billing) return 'removed';
  if (billing.appliedRound >= number) return 'outdated';
  const now = unit.clock.now();
  const { subscriptions, hasPaymentMethod } = state;
  const { trialEndsAt } = billing;
  const held = await data.find(organizationModule, {
    where: { organizationId: { eq: organizationId } },
    limit: maxModules,
  });
  const grants = held.filter(({ source }) => source === 'granted');
  const { modules, isLapsed, problems } = entitlementsOf({ subscriptions, trialEndsAt, grants, now }, catalogue);
  const own = held.filter(({ source }) => source !== 'granted');
  const wanted = modules.filter(({ source }) => source !== 'granted');
  await writeModules(data, organizationId, own, wanted);
  const written = await writeSubscriptions(data, organizationId, subscriptions, catalogue);
  const differences = [
    ...moduleDifferences(own, wanted),
    ...written.differences,
    ...(billing.hasPaymentMethod === hasPaymentMethod ? [] : ['Whether there is a payment method differs.']),
    ...(billing.isLapsed === isLapsed
      ? []
      : [isLapsed ? 'The organization has lapsed.' : 'The organization has not lapsed.']),
  ];
  const trialEnd = endingTrial(subscriptions, trialEndsAt, catalogue, now);
  const isTrialNews = trialEnd !== undefined && trialEnd.getTime() !== billing.noticedTrialEnd?.getTime();
  const next = nextCheck(subscriptions, modules, trialEndsAt, catalogue, now);
  // A refused request is made again.
  const again = new Date(now.getTime() + roundTimeMs);
  const after = await data.update(organizationBilling, billing.id, {
    appliedRound: number,
    reconciledAt: now,
    isLapsed,
    hasPaymentMethod,
    problem: textOf([...round.problems, ...problems]),
    nextCheckAt: round.problems.length > 0 && !(next && next < again) ? again : next,
    ...(isTrialNews ? { noticedTrialEnd: trialEnd } : {}),
    ...(isComparison ? { differences: textOf(differences) } : {}),
  });
  announce(unit, after, { isOverdue: written.newlyOverdue.length > 0, ...(isTrialNews ? { trialEnd } : {}) });
  await followState(unit, billing, after);
  await spareIfPaid(unit, organizationId);
  return differences;
}

/** Records what people are notified of. */
function announce(
  unit: UnitOfWork,
  after: Billing,
  { isOverdue, trialEnd }: { readonly isOverdue: boolean; readonly trialEnd?: Date },
): void {
  if (trialEnd) unit.emit(customEvent(organizationBilling, 'trial_ending', after, { endsAt: trialEnd.toISOString() }));
  if (isOverdue) unit.emit(customEvent(organizationBilling, 'payment_failed', after, {}));
}

async function writeModules(
  data: DataClient,
  organizationId: string,
  held: readonly Module[],
  wanted: readonly Entitlement[],
): Promise<void> {
  const keyOf = ({ module, source }: Entitlement) => `${module}:${source}`;
  const left = new Map(held.map((row) => [keyOf(row), row]));
  for (const entitlement of wanted) {
    const row = left.get(keyOf(entitlement));
    left.delete(keyOf(entitlement));
    const { endsAt } = entitlement;
    if (!row) await data.create(organizationModule, { organizationId, ...entitlement });
    else if (row.endsAt?.getTime() !== endsAt?.getTime()) await data.update(organizationModule, row.id, { endsAt });
  }
  for (const { id } of left.values()) await data.remove(organizationModule, id);
}

function textOf(sentences: readonly string[]): string | null {
  return sentences.length === 0 ? null : sentences.join('\n').slice(0, maxText);
}

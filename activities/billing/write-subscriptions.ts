import { isDeepStrictEqual } from 'node:util';
import { priceIn, type Catalogue } from '#entities/billing/catalogue/catalogue.ts';
import { entitles } from '#entities/billing/entitlements.ts';
import { organizationPrice } from '#entities/billing/organization-price.ts';
import { organizationProduct } from '#entities/billing/organization-product.ts';
import { organizationSubscription } from '#entities/billing/organization-subscription.ts';
import type { ProviderItem, ProviderSubscription } from '#entities/billing/provider-state.ts';
import { currencies } from '#entities/kit/model/composed/money.ts';
import type { EntityModule } from '#entities/kit/model/define.ts';
import type { DataClient } from '#entities/kit/unit/data-client.ts';

/** Most rows of one organization. */
const limit = 1_000;

type Values = Readonly<Record<string, unknown>> & { readonly externalId: string };
interface Stored {
  readonly id: string;
  readonly externalId: string | null;
}

export interface WrittenSubscriptions {
  /** One sentence each. */
  readonly differences: readonly string[];
  /** Subscriptions that were not overdue before. */
  readonly newlyOverdue: readonly ProviderSubscription[];
}

/** Brings subscriptions, prices and products of an organization to what the provider has. */
export async function writeSubscriptions(
  data: DataClient,
  organizationId: string,
  subscriptions: readonly ProviderSubscription[],
  catalogue: Catalogue,
): Promise<WrittenSubscriptions> {
  const where = { organizationId: { eq: organizationId } };
  const held = await data.find(organizationSubscription, { where, limit });
  const prices = await data.find(organizationPrice, { where, limit });
  const products = await data.find(organizationProduct, { where, limit });
  const differences: string[] = [];
  const bring = (module: EntityModule, rows: readonly Stored[], values: readonly Values[]) =>
    bringTo({ data, module, organizationId, differences }, rows, values);
  const ids = await bring(
    organizationSubscription,
    held,
    subscriptions.map((one) => valuesOf(one, catalogue)),
  );
  for (const subscription of subscriptions) {
    const subscriptionId = ids.get(subscription.id) ?? '';
    const ofIt = (row: { readonly subscriptionId: string | null }) => row.subscriptionId === subscriptionId;
    const items = subscription.items.filter(isStorable);
    const isActive = entitles(subscription, catalogue);
    const priceValues = items.map((item) => ({ ...priceValuesOf(item, catalogue), isActive, subscriptionId }));
    const priceIds = await bring(organizationPrice, prices.filter(ofIt), firstOfEach(priceValues));
    const productValues = items.map((item) => ({
      externalId: item.productId,
      module: priceIn(catalogue, item.lookupKey)?.entry.module ?? null,
      isActive: isActive && item.quantity > 0,
      subscriptionId,
      priceId: priceIds.get(item.priceId) ?? null,
    }));
    await bring(organizationProduct, products.filter(ofIt), firstOfEach(productValues));
  }
  const statuses = new Map(held.map(({ externalId, status }) => [externalId, status]));
  const newlyOverdue = subscriptions.filter(
    (one) => one.status === 'past_due' && entitles(one, catalogue) && statuses.get(one.id) !== 'past_due',
  );
  return { differences, newlyOverdue };
}

function valuesOf(subscription: ProviderSubscription, catalogue: Catalogue): Values {
  const intervals = new Set(subscription.items.map(({ interval }) => interval));
  const [interval] = intervals;
  return {
    externalId: subscription.id,
    status: subscription.status.slice(0, 100),
    isActive: entitles(subscription, catalogue),
    isTrialOfServer: subscription.isTrialOfServer,
    interval: intervals.size === 1 && isInterval(interval) ? interval : null,
    trialEndsAt: subscription.trialEndsAt,
    endsAt: subscription.periodEndsAt,
    cancelsAt: subscription.cancelsAt,
    nextAttemptAt: subscription.nextPaymentAttempt,
    daysUntilDue: subscription.daysUntilDue,
  };
}

function isInterval(interval: unknown): interval is 'month' | 'year' {
  return interval === 'month' || interval === 'year';
}

/** Other items are not of the catalogue, which has neither their intervals nor their currencies. */
function isStorable({ interval, currency }: ProviderItem): boolean {
  return isInterval(interval) && currencies.some((known) => known === currency);
}

function priceValuesOf(
  { priceId, lookupKey, unitAmount, currency, interval, quantity }: ProviderItem,
  catalogue: Catalogue,
) {
  // Amounts are in the smallest unit of their currency.
  const digits =
    new Intl.NumberFormat('en', { style: 'currency', currency }).resolvedOptions().maximumFractionDigits ?? 2;
  return {
    externalId: priceId,
    lookupKey: priceIn(catalogue, lookupKey) ? lookupKey : null,
    amount: ((unitAmount ?? 0) / 10 ** digits).toFixed(digits),
    amountCurrency: currency,
    interval,
    quantity,
  };
}

function firstOfEach<V extends Values>(values: readonly V[]): V[] {
  return [...Map.groupBy(values, ({ externalId }) => externalId).values()].flatMap(([first]) => first ?? []);
}

interface Bringing {
  readonly data: DataClient;
  readonly module: EntityModule;
  readonly organizationId: string;
  readonly differences: string[];
}

/** Creates, changes and deletes rows so that they are these. @returns their ids by the ids at the provider */
async function bringTo(
  { data, module, organizationId, differences }: Bringing,
  rows: readonly Stored[],
  wanted: readonly Values[],
): Promise<ReadonlyMap<string, string>> {
  const left = new Map(rows.map((row) => [row.externalId, row]));
  const ids = new Map<string, string>();
  for (const values of wanted) {
    const { externalId } = values;
    const row = left.get(externalId);
    left.delete(externalId);
    const changed = Object.entries(values).filter(
      ([name, value]) => !isSame((row as Partial<Record<string, unknown>> | undefined)?.[name], value),
    );
    if (!row) {
      differences.push(`The ${module.topic} ${externalId} is missing.`);
      const { id } = await data.create(module, { organizationId, ...values });
      ids.set(externalId, id);
      continue;
    }
    ids.set(externalId, row.id);
    if (changed.length === 0) continue;
    differences.push(`The ${module.topic} ${externalId} has another ${changed.map(([name]) => name).join(', ')}.`);
    await data.update(module, row.id, Object.fromEntries(changed));
  }
  for (const { id, externalId } of left.values()) {
    differences.push(`The ${module.topic} ${externalId} is there, and the provider has none.`);
    await data.remove(module, id);
  }
  return ids;
}

/** Exact decimals may be written in several ways. */
function isSame(held: unknown, value: unknown): boolean {
  return (
    isDeepStrictEqual(held, value) ||
    (typeof held === 'string' && typeof value === 'string' && isDecimal(value) && Number(held) === Number(value))
  );
}

function isDecimal(text: string): boolean {
  return /^\d+(\.\d+)?$/.test(text);
}

import type { Stripe } from 'stripe';
import type { BilledParty, ProviderItem, ProviderSubscription } from '#entities/billing/provider-state.ts';
import type { ProviderPrice } from './payment-provider.ts';

/** Names in the metadata of the provider. The first is that of the reference, so its customers are found, too. */
export const metadata = { organization: 'organization_id', trial: 'trial_of_server', order: 'order_number' } as const;

/** Name under which invoices show the tax id. The provider's own tax ids need their type by country and are refused for a wrong digit. */
const taxIdLabel = 'Tax ID';

/** Parameters that make a customer out of who is billed, or change it to that. */
export function customerParams({ organizationId, name, email, phone, address, taxId }: BilledParty) {
  return {
    name,
    // An empty text removes what was there.
    email: email ?? '',
    phone: phone ?? '',
    address:
      address === null
        ? ('' as const)
        : {
            line1: address.line1 ?? '',
            line2: address.line2 ?? '',
            city: address.city ?? '',
            state: address.region ?? '',
            postal_code: address.postalCode ?? '',
            country: address.country ?? '',
          },
    metadata: { [metadata.organization]: organizationId },
    invoice_settings: { custom_fields: taxId === null ? ('' as const) : [{ name: taxIdLabel, value: taxId }] },
  } satisfies Stripe.CustomerUpdateParams;
}

/**
 * A subscription of the provider in our words.
 * @param items all of them
 * @param unpaid its open invoices
 */
export function subscriptionOf(
  subscription: Stripe.Subscription,
  items: readonly Stripe.SubscriptionItem[],
  unpaid: readonly Stripe.Invoice[],
): ProviderSubscription {
  const periodEndsAt = latest(items.map((item) => item.current_period_end));
  const cancelsAt = dateOf(subscription.cancel_at) ?? (subscription.cancel_at_period_end ? periodEndsAt : null);
  const attempts = unpaid.flatMap(({ next_payment_attempt: at }) => at ?? []);
  return {
    id: subscription.id,
    status: subscription.status,
    items: items.map(itemOf),
    trialEndsAt: dateOf(subscription.trial_end),
    periodEndsAt,
    cancelsAt,
    endedAt: dateOf(subscription.ended_at),
    nextPaymentAttempt: attempts.length === 0 ? null : dateOf(Math.min(...attempts)),
    daysUntilDue: subscription.days_until_due,
    created: new Date(subscription.created * 1_000),
    isTrialOfServer: subscription.metadata[metadata.trial] === 'true',
  };
}

export function priceOf(price: Stripe.Price): ProviderPrice {
  return {
    id: price.id,
    lookupKey: price.lookup_key ?? '',
    productId: idOf(price.product),
    unitAmount: price.unit_amount,
    currency: price.currency,
    interval: price.recurring?.interval ?? null,
    isActive: price.active,
  };
}

function itemOf({ id, price, quantity }: Stripe.SubscriptionItem): ProviderItem {
  return {
    id,
    priceId: price.id,
    productId: idOf(price.product),
    lookupKey: price.lookup_key,
    quantity: quantity ?? 1,
    unitAmount: price.unit_amount,
    currency: price.currency,
    interval: price.recurring?.interval ?? null,
  };
}

/** The id of what may be part of the answer. */
function idOf(reference: string | { readonly id: string }): string {
  return typeof reference === 'string' ? reference : reference.id;
}

function latest(seconds: readonly number[]): Date | null {
  return seconds.length === 0 ? null : dateOf(Math.max(...seconds));
}

function dateOf(seconds: number | null): Date | null {
  return seconds === null ? null : new Date(seconds * 1_000);
}

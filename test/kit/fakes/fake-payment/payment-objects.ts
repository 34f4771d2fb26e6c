import type {
  KeptCard,
  KeptCheckout,
  KeptCustomer,
  KeptEndpoint,
  KeptEvent,
  KeptInvoice,
  KeptPrice,
  KeptSubscription,
  PaymentLedger,
  Subject,
} from './payment-ledger.ts';

/** The version with which periods moved from subscriptions to their items, and `invoice.subscription` to `invoice.parent`. */
const basil = '2025-03-31';

/** Most objects of a list that is part of another object, and of a page here: a page that asks for more gets the same. */
export const pageSize = 10;

const seconds = (ms: number): number => Math.floor(ms / 1_000);
/** The part of an event about the time before it. */
function previousOf(subject: Subject): object {
  const isDetached = subject.kind === 'card' && subject.isDetached;
  return isDetached ? { previous_attributes: { customer: subject.value.customer } } : {};
}

const secondsOrNull = (ms: number | null): number | null => (ms === null ? null : seconds(ms));

/** An object of a list. */
interface Listed {
  readonly id: string;
  readonly [name: string]: unknown;
}

/** A page of a list, with the objects after `startingAfter`. */
export function page(
  url: string,
  objects: readonly (object & { readonly id?: string })[],
  { startingAfter, limit = pageSize }: { startingAfter?: string | undefined; limit?: number } = {},
): object {
  const from = startingAfter === undefined ? 0 : objects.findIndex(({ id }) => id === startingAfter) + 1;
  const data = objects.slice(from, from + Math.min(limit, pageSize));
  return { object: 'list', url, has_more: from + data.length < objects.length, data };
}

/** Writes what the ledger keeps in the form of one API version, such as `2025-03-31.basil`. */
export class PaymentObjects {
  readonly #ledger: PaymentLedger;
  readonly #isBasil: boolean;

  constructor(ledger: PaymentLedger, version: string) {
    this.#ledger = ledger;
    this.#isBasil = version >= basil;
  }

  customer(one: KeptCustomer): object {
    if (one.isDeleted) return { id: one.id, object: 'customer', deleted: true };
    return {
      id: one.id,
      object: 'customer',
      created: seconds(one.created),
      email: one.email,
      name: one.name,
      phone: one.phone,
      address: one.address,
      metadata: one.metadata,
      invoice_settings: {
        custom_fields: one.invoiceFields.length === 0 ? null : one.invoiceFields,
        default_payment_method: this.#ledger.cardsOf(one.id)[0]?.id ?? null,
      },
      livemode: false,
    };
  }

  card({ id, customer, created, isGood }: KeptCard, isDetached = false): object {
    return {
      id,
      object: 'payment_method',
      type: 'card',
      customer: isDetached ? null : customer,
      created: seconds(created),
      card: { brand: 'visa', last4: isGood ? '4242' : '0341', exp_month: 12, exp_year: 2040 },
      livemode: false,
    };
  }

  price(one: KeptPrice): object {
    return {
      id: one.id,
      object: 'price',
      active: one.isActive,
      currency: one.currency,
      lookup_key: one.lookupKey,
      product: one.product,
      recurring: { interval: one.interval, interval_count: 1, usage_type: 'licensed' },
      type: 'recurring',
      unit_amount: one.unitAmount,
      livemode: false,
    };
  }

  items(one: KeptSubscription): Listed[] {
    const period = { current_period_start: seconds(one.periodStart), current_period_end: seconds(one.periodEnd) };
    return one.items.map((item) => ({
      id: item.id,
      object: 'subscription_item',
      subscription: one.id,
      price: this.price(this.#ledger.priceOf(item)),
      quantity: item.quantity,
      ...(this.#isBasil ? period : {}),
    }));
  }

  subscription(one: KeptSubscription): object {
    const period = { current_period_start: seconds(one.periodStart), current_period_end: seconds(one.periodEnd) };
    return {
      id: one.id,
      object: 'subscription',
      customer: one.customer,
      status: one.status,
      created: seconds(one.created),
      collection_method: 'charge_automatically',
      billing_mode: { type: one.billingMode },
      items: page(`/v1/subscription_items?subscription=${one.id}`, this.items(one)),
      ...(this.#isBasil ? {} : period),
      trial_end: secondsOrNull(one.trialEnd),
      trial_settings: { end_behavior: { missing_payment_method: one.withoutCard } },
      cancel_at: secondsOrNull(one.cancelAt),
      cancel_at_period_end: one.isCancelledAtPeriodEnd,
      canceled_at: secondsOrNull(one.canceledAt),
      ended_at: secondsOrNull(one.endedAt),
      days_until_due: null,
      latest_invoice: one.latestInvoice,
      metadata: one.metadata,
      livemode: false,
    };
  }

  invoice(one: KeptInvoice): object {
    const parent = { type: 'subscription_details', subscription_details: { subscription: one.subscription } };
    return {
      id: one.id,
      object: 'invoice',
      customer: one.customer,
      ...(this.#isBasil ? { parent } : { subscription: one.subscription }),
      status: one.status,
      created: seconds(one.created),
      currency: one.currency,
      amount_due: one.amount,
      attempt_count: one.attempts,
      next_payment_attempt: secondsOrNull(one.nextAttempt),
      livemode: false,
    };
  }

  checkout(one: KeptCheckout, url: string): Listed {
    return {
      id: one.id,
      object: 'checkout.session',
      mode: 'subscription',
      customer: one.customer,
      status: one.status,
      payment_status: one.status === 'complete' ? 'paid' : 'unpaid',
      subscription: one.subscription,
      metadata: one.ownMetadata,
      expires_at: seconds(one.expiresAt),
      url: one.status === 'open' ? url : null,
      livemode: false,
    };
  }

  endpoint(one: KeptEndpoint, withSecret: boolean): Listed {
    return {
      id: one.id,
      object: 'webhook_endpoint',
      url: one.url,
      api_version: one.apiVersion,
      enabled_events: one.events,
      status: one.isEnabled ? 'enabled' : 'disabled',
      ...(withSecret ? { secret: one.secret } : {}),
      livemode: false,
    };
  }

  event(one: KeptEvent, version: string): object {
    return {
      id: one.id,
      object: 'event',
      api_version: version,
      created: seconds(one.created),
      type: one.type,
      data: { object: this.#subject(one.subject), ...previousOf(one.subject) },
      pending_webhooks: 1,
      request: { id: null, idempotency_key: null },
      livemode: false,
    };
  }

  #subject(subject: Subject): object {
    switch (subject.kind) {
      case 'customer':
        return this.customer(subject.value);
      case 'card':
        return this.card(subject.value, subject.isDetached);
      case 'subscription':
        return this.subscription(subject.value);
      case 'invoice':
        return this.invoice(subject.value);
      case 'checkout':
        return this.checkout(subject.value, '');
      default:
        return subject satisfies never;
    }
  }
}

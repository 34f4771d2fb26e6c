/** The records of the fake payment provider. Times are in milliseconds; `payment-objects.ts` writes them as the provider does. */

export type Metadata = Record<string, string>;

export interface KeptCustomer {
  readonly id: string;
  readonly created: number;
  email: string | null;
  name: string | null;
  phone: string | null;
  address: Readonly<Record<string, string | null>> | null;
  metadata: Metadata;
  invoiceFields: readonly { readonly name: string; readonly value: string }[];
  isDeleted: boolean;
  /** How far its test clock is ahead of the others. */
  aheadMs: number;
  /** Payments that fail although the card is good. */
  failuresToCome: number;
}

export interface KeptCard {
  readonly id: string;
  readonly customer: string;
  readonly created: number;
  /** Whether the bank accepts payments. */
  readonly isGood: boolean;
}

export interface KeptPrice {
  readonly id: string;
  readonly product: string;
  readonly lookupKey: string;
  readonly unitAmount: number;
  readonly currency: string;
  readonly interval: 'month' | 'year';
  readonly isActive: boolean;
}

export interface KeptItem {
  readonly id: string;
  readonly price: string;
  readonly quantity: number;
}

export interface KeptSubscription {
  readonly id: string;
  readonly customer: string;
  readonly created: number;
  status: string;
  items: readonly KeptItem[];
  periodStart: number;
  periodEnd: number;
  trialEnd: number | null;
  isTrialEndAnnounced: boolean;
  readonly withoutCard: 'cancel' | 'pause' | 'create_invoice';
  cancelAt: number | null;
  isCancelledAtPeriodEnd: boolean;
  canceledAt: number | null;
  endedAt: number | null;
  latestInvoice: string | null;
  readonly billingMode: string;
  readonly metadata: Metadata;
}

export interface KeptInvoice {
  readonly id: string;
  readonly customer: string;
  readonly subscription: string;
  readonly created: number;
  readonly amount: number;
  readonly currency: string;
  status: 'open' | 'paid' | 'uncollectible';
  attempts: number;
  nextAttempt: number | null;
}

export interface KeptCheckout {
  readonly id: string;
  readonly customer: string;
  readonly items: readonly Omit<KeptItem, 'id'>[];
  readonly successUrl: string;
  readonly cancelUrl: string;
  /** Of the subscription that it becomes. */
  readonly metadata: Metadata;
  readonly ownMetadata: Metadata;
  readonly billingMode: string;
  readonly expiresAt: number;
  status: 'open' | 'complete' | 'expired';
  subscription: string | null;
}

export interface KeptPortal {
  readonly id: string;
  readonly customer: string;
  readonly returnUrl: string;
}

export interface KeptEndpoint {
  readonly id: string;
  readonly url: string;
  readonly secret: string;
  readonly apiVersion: string | null;
  readonly events: readonly string[];
  isEnabled: boolean;
}

/** The record that an event is about, as it was then. */
export type Subject =
  | { readonly kind: 'customer'; readonly value: KeptCustomer }
  | { readonly kind: 'card'; readonly value: KeptCard; readonly isDetached: boolean }
  | { readonly kind: 'subscription'; readonly value: KeptSubscription }
  | { readonly kind: 'invoice'; readonly value: KeptInvoice }
  | { readonly kind: 'checkout'; readonly value: KeptCheckout };

export interface KeptEvent {
  readonly id: string;
  readonly type: string;
  readonly created: number;
  readonly customer: string;
  readonly subject: Subject;
}

const recordKinds = [
  'customers',
  'cards',
  'prices',
  'subscriptions',
  'invoices',
  'checkouts',
  'portals',
  'endpoints',
] as const;

export interface SavedLedger {
  readonly ids: number;
  readonly aheadMs: number;
  readonly records: Readonly<Record<string, readonly object[]>>;
}

/** All that the fake keeps, and the events that its changes make. */
export class PaymentLedger {
  readonly customers = new Map<string, KeptCustomer>();
  readonly cards = new Map<string, KeptCard>();
  readonly prices = new Map<string, KeptPrice>();
  readonly subscriptions = new Map<string, KeptSubscription>();
  readonly invoices = new Map<string, KeptInvoice>();
  readonly checkouts = new Map<string, KeptCheckout>();
  readonly portals = new Map<string, KeptPortal>();
  readonly endpoints = new Map<string, KeptEndpoint>();
  readonly events: KeptEvent[] = [];
  /** How far all customers are ahead of the clock. */
  aheadMs = 0;
  readonly #now: () => number;
  #ids = 0;

  /** @param now without the test clocks of customers */
  constructor(now: () => number) {
    this.#now = now;
  }

  /** All but the events, as JSON. */
  save(): SavedLedger {
    const records = Object.fromEntries(
      recordKinds.map((kind) => [kind, [...(this[kind] as Map<string, object>).values()]]),
    );
    return { ids: this.#ids, aheadMs: this.aheadMs, records };
  }

  /** Takes over what an earlier process has saved. */
  restore({ ids, aheadMs, records }: SavedLedger): void {
    this.#ids = ids;
    this.aheadMs = aheadMs;
    for (const kind of recordKinds)
      for (const record of records[kind] ?? [])
        (this[kind] as Map<string, object>).set((record as { readonly id: string }).id, record);
  }

  newId(prefix: string): string {
    this.#ids += 1;
    // As long as those of the provider, and in the order in which they were made.
    return `${prefix}_1Fake${String(this.#ids).padStart(19, '0')}`;
  }

  /** The time of a customer; without one, that of all. */
  now(customerId?: string): number {
    return this.#now() + this.aheadMs + (customerId === undefined ? 0 : (this.customers.get(customerId)?.aheadMs ?? 0));
  }

  record(type: string, customer: string, subject: Subject): void {
    this.events.push({
      id: this.newId('evt'),
      type,
      created: this.now(customer),
      customer,
      subject: structuredClone(subject),
    });
  }

  changed(subscription: KeptSubscription, verb: string): void {
    this.record(`customer.subscription.${verb}`, subscription.customer, { kind: 'subscription', value: subscription });
  }

  /** Cards of a customer, the newest first: that one is charged. */
  cardsOf(customer: string): KeptCard[] {
    return [...this.cards.values()].filter((card) => card.customer === customer).toReversed();
  }

  /** Subscriptions of a customer, the newest first. */
  subscriptionsOf(customer: string): KeptSubscription[] {
    return [...this.subscriptions.values()].filter((one) => one.customer === customer).toReversed();
  }

  /** Unpaid invoices of a subscription, the oldest first. */
  openInvoicesOf(subscription: string): KeptInvoice[] {
    return [...this.invoices.values()].filter((one) => one.subscription === subscription && one.status === 'open');
  }

  priceOf(item: Pick<KeptItem, 'price'>): KeptPrice {
    const price = this.prices.get(item.price);
    if (!price) throw new Error(`The fake has no price ${item.price}.`);
    return price;
  }
}

/** Statuses in which a subscription has ended. */
export const hasEnded = ({ status }: Pick<KeptSubscription, 'status'>): boolean =>
  status === 'canceled' || status === 'incomplete_expired';

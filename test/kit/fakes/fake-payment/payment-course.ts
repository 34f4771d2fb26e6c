import {
  hasEnded,
  type KeptInvoice,
  type KeptSubscription,
  type Metadata,
  type PaymentLedger,
} from './payment-ledger.ts';

const dayMs = 86_400_000;

/** Pauses after failed payments; after the last one the subscription ends. */
const retryPauses: readonly number[] = [3 * dayMs, 5 * dayMs, 7 * dayMs];

/** Time before the end of a trial at which it is announced. */
const announcedMs = 3 * dayMs;

export interface NewSubscription {
  readonly customer: string;
  readonly items: readonly { readonly price: string; readonly quantity: number }[];
  readonly trialEnd?: number | undefined;
  readonly withoutCard?: KeptSubscription['withoutCard'];
  readonly billingMode: string;
  readonly metadata: Metadata;
}

/** The course of subscriptions: trials, renewals, payments that fail and are tried again, ends. */
export class PaymentCourse {
  /** Status of a subscription after the last failed payment. */
  endOfRetries: 'canceled' | 'unpaid' = 'canceled';
  readonly #ledger: PaymentLedger;

  constructor(ledger: PaymentLedger) {
    this.#ledger = ledger;
  }

  subscribe(order: NewSubscription): KeptSubscription {
    const now = this.#ledger.now(order.customer);
    const subscription: KeptSubscription = {
      id: this.#ledger.newId('sub'),
      customer: order.customer,
      created: now,
      status: order.trialEnd === undefined ? 'incomplete' : 'trialing',
      items: order.items.map((item) => ({ id: this.#ledger.newId('si'), ...item })),
      periodStart: now,
      periodEnd: order.trialEnd ?? now,
      trialEnd: order.trialEnd ?? null,
      isTrialEndAnnounced: false,
      withoutCard: order.withoutCard ?? 'create_invoice',
      cancelAt: null,
      isCancelledAtPeriodEnd: false,
      canceledAt: null,
      endedAt: null,
      latestInvoice: null,
      billingMode: order.billingMode,
      metadata: order.metadata,
    };
    this.#ledger.subscriptions.set(subscription.id, subscription);
    if (order.trialEnd === undefined) {
      this.#beginPeriod(subscription, now);
      const invoice = this.#newInvoice(subscription);
      if (this.#isPaid(invoice)) subscription.status = 'active';
      this.#ledger.changed(subscription, 'created');
      this.#announce(invoice);
    } else this.#ledger.changed(subscription, 'created');
    return subscription;
  }

  end(subscription: KeptSubscription): void {
    if (hasEnded(subscription)) return;
    const now = this.#ledger.now(subscription.customer);
    subscription.status = 'canceled';
    subscription.canceledAt ??= now;
    subscription.endedAt = now;
    for (const invoice of this.#ledger.openInvoicesOf(subscription.id)) invoice.nextAttempt = null;
    this.#ledger.changed(subscription, 'deleted');
  }

  /** Cancels at the end of the period, or takes that back. */
  setCancelAtPeriodEnd(subscription: KeptSubscription, cancels: boolean): void {
    subscription.isCancelledAtPeriodEnd = cancels;
    subscription.cancelAt = cancels ? subscription.periodEnd : null;
    subscription.canceledAt = cancels ? this.#ledger.now(subscription.customer) : null;
    this.#ledger.changed(subscription, 'updated');
  }

  /** Pays what is open, as a customer does on the page of an invoice. */
  payOpenInvoices(customer: string): void {
    for (const { id } of this.#ledger.subscriptionsOf(customer))
      for (const invoice of this.#ledger.openInvoicesOf(id)) this.#attempt(invoice);
  }

  /** The time at which something happens next to a subscription; undefined when nothing does any more. */
  nextTime(subscription: KeptSubscription): number | undefined {
    if (hasEnded(subscription)) return undefined;
    const times = this.#ledger.openInvoicesOf(subscription.id).map(({ nextAttempt }) => nextAttempt);
    times.push(subscription.cancelAt);
    if (subscription.status === 'trialing' && !subscription.isTrialEndAnnounced)
      times.push((subscription.trialEnd ?? 0) - announcedMs);
    if (['trialing', 'active', 'past_due'].includes(subscription.status)) times.push(subscription.periodEnd);
    const due = times.filter((time) => time !== null);
    return due.length === 0 ? undefined : Math.min(...due);
  }

  /** Does what is due for a subscription at the present time of its customer: one step of its course. */
  step(subscription: KeptSubscription): void {
    const now = this.#ledger.now(subscription.customer);
    const { status, trialEnd, cancelAt } = subscription;
    const invoice = this.#ledger
      .openInvoicesOf(subscription.id)
      .find(({ nextAttempt }) => (nextAttempt ?? Infinity) <= now);
    if (cancelAt !== null && cancelAt <= now) this.end(subscription);
    else if (invoice) this.#attempt(invoice);
    else if (status === 'trialing' && !subscription.isTrialEndAnnounced && (trialEnd ?? 0) - announcedMs <= now) {
      subscription.isTrialEndAnnounced = true;
      this.#ledger.changed(subscription, 'trial_will_end');
    } else if (subscription.periodEnd <= now) this.#endPeriod(subscription);
  }

  #endPeriod(subscription: KeptSubscription): void {
    if (subscription.status === 'trialing' && this.#ledger.cardsOf(subscription.customer).length === 0) {
      if (subscription.withoutCard === 'cancel') return this.end(subscription);
      if (subscription.withoutCard === 'pause') {
        subscription.status = 'paused';
        return this.#ledger.changed(subscription, 'paused');
      }
    }
    if (subscription.status === 'trialing') subscription.status = 'active';
    this.#beginPeriod(subscription, subscription.periodEnd);
    this.#ledger.changed(subscription, 'updated');
    const invoice = this.#newInvoice(subscription);
    if (this.#isPaid(invoice)) this.#announce(invoice);
    else this.#fail(invoice);
  }

  #beginPeriod(subscription: KeptSubscription, from: number): void {
    const isYearly = subscription.items.some((item) => this.#ledger.priceOf(item).interval === 'year');
    const end = new Date(from);
    end.setUTCMonth(end.getUTCMonth() + (isYearly ? 12 : 1));
    subscription.periodStart = from;
    subscription.periodEnd = end.getTime();
  }

  #newInvoice(subscription: KeptSubscription): KeptInvoice {
    const prices = subscription.items.map((item) => ({ ...this.#ledger.priceOf(item), quantity: item.quantity }));
    const invoice: KeptInvoice = {
      id: this.#ledger.newId('in'),
      customer: subscription.customer,
      subscription: subscription.id,
      created: this.#ledger.now(subscription.customer),
      amount: prices.reduce((sum, { unitAmount, quantity }) => sum + unitAmount * quantity, 0),
      currency: prices[0]?.currency ?? 'usd',
      status: 'open',
      attempts: 0,
      nextAttempt: null,
    };
    this.#ledger.invoices.set(invoice.id, invoice);
    subscription.latestInvoice = invoice.id;
    return invoice;
  }

  /** Charges the newest card. */
  #isPaid(invoice: KeptInvoice): boolean {
    const customer = this.#ledger.customers.get(invoice.customer);
    invoice.attempts += 1;
    const isRefused = invoice.amount > 0 && (customer?.failuresToCome ?? 0) > 0;
    if (isRefused && customer) customer.failuresToCome -= 1;
    if (invoice.amount > 0 && (isRefused || !this.#ledger.cardsOf(invoice.customer)[0]?.isGood)) return false;
    invoice.status = 'paid';
    invoice.nextAttempt = null;
    return true;
  }

  #announce(invoice: KeptInvoice): void {
    const type = invoice.status === 'paid' ? 'invoice.paid' : 'invoice.payment_failed';
    this.#ledger.record(type, invoice.customer, { kind: 'invoice', value: invoice });
  }

  /** Tries again to collect an invoice. */
  #attempt(invoice: KeptInvoice): void {
    if (!this.#isPaid(invoice)) return this.#fail(invoice);
    this.#announce(invoice);
    const subscription = this.#ledger.subscriptions.get(invoice.subscription);
    if (!subscription || hasEnded(subscription) || this.#ledger.openInvoicesOf(subscription.id).length > 0) return;
    subscription.status = 'active';
    this.#ledger.changed(subscription, 'updated');
  }

  #fail(invoice: KeptInvoice): void {
    const pause = retryPauses[invoice.attempts - 1];
    invoice.nextAttempt = pause === undefined ? null : this.#ledger.now(invoice.customer) + pause;
    this.#announce(invoice);
    const subscription = this.#ledger.subscriptions.get(invoice.subscription);
    if (!subscription || hasEnded(subscription)) return;
    if (pause === undefined && this.endOfRetries === 'canceled') return this.end(subscription);
    const status = pause === undefined ? 'unpaid' : 'past_due';
    if (subscription.status === status) return;
    subscription.status = status;
    this.#ledger.changed(subscription, 'updated');
  }
}

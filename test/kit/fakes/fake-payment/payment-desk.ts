import type { Catalogue } from '#entities/billing/catalogue/catalogue.ts';
import type { PaymentCourse } from './payment-course.ts';
import type { KeptCheckout, KeptCustomer, KeptPrice, KeptSubscription, PaymentLedger } from './payment-ledger.ts';

/** Actions of people at the payment provider: on its pages, in its dashboard, with their cards. */
export class PaymentDesk {
  readonly #ledger: PaymentLedger;
  readonly #course: PaymentCourse;

  constructor(ledger: PaymentLedger, course: PaymentCourse) {
    this.#ledger = ledger;
    this.#course = course;
  }

  /** Puts a price up for sale. */
  addPrice(price: Pick<KeptPrice, 'lookupKey' | 'unitAmount' | 'interval'> & Partial<KeptPrice>): KeptPrice {
    const added: KeptPrice = {
      id: this.#ledger.newId('price'),
      product: this.#ledger.newId('prod'),
      currency: 'usd',
      isActive: true,
      ...price,
    };
    this.#ledger.prices.set(added.id, added);
    return added;
  }

  /** Puts up for sale what a catalogue names, except prices that are already for sale. */
  sell(catalogue: Catalogue): void {
    const known = new Set([...this.#ledger.prices.values()].map(({ lookupKey }) => lookupKey));
    for (const { prices } of catalogue) {
      const product = this.#ledger.newId('prod');
      for (const price of prices) if (!known.has(price.lookupKey)) this.addPrice({ ...price, product });
    }
  }

  /** Customers of an organization, the oldest first. */
  customersOf(organizationId: string): KeptCustomer[] {
    return [...this.#ledger.customers.values()].filter((one) => one.metadata['organization_id'] === organizationId);
  }

  /** Subscribes without a checkout. @param items lookup keys, or those with a quantity */
  subscribe(customer: string, items: readonly (string | readonly [string, number])[]): KeptSubscription {
    return this.#course.subscribe({ customer, items: this.#ordered(items), billingMode: 'flexible', metadata: {} });
  }

  /** Changes what a subscription contains. */
  setItems(subscriptionId: string, items: readonly (string | readonly [string, number])[]): void {
    const subscription = this.subscription(subscriptionId);
    subscription.items = this.#ordered(items).map((item) => ({ id: this.#ledger.newId('si'), ...item }));
    this.#ledger.changed(subscription, 'updated');
  }

  /** Gives a subscription any status, also one that nobody knows. */
  setStatus(subscriptionId: string, status: string): void {
    const subscription = this.subscription(subscriptionId);
    subscription.status = status;
    this.#ledger.changed(subscription, 'updated');
  }

  setCancelAtPeriodEnd(subscriptionId: string, cancels: boolean): void {
    this.#course.setCancelAtPeriodEnd(this.subscription(subscriptionId), cancels);
  }

  cancel(subscriptionId: string): void {
    this.#course.end(this.subscription(subscriptionId));
  }

  /** Adds a card, which is charged from now on. @param isGood whether the bank accepts payments */
  addCard(customer: string, isGood = true): void {
    const card = { id: this.#ledger.newId('pm'), customer, created: this.#ledger.now(customer), isGood };
    this.#ledger.cards.set(card.id, card);
    this.#ledger.record('payment_method.attached', customer, { kind: 'card', value: card, isDetached: false });
  }

  removeCards(customer: string): void {
    for (const card of this.#ledger.cardsOf(customer)) {
      this.#ledger.cards.delete(card.id);
      this.#ledger.record('payment_method.detached', customer, { kind: 'card', value: card, isDetached: true });
    }
  }

  /** Lets the next payments of a customer fail, although the card is good. */
  failNextPayments(customerId: string, times = 1): void {
    this.customer(customerId).failuresToCome += times;
  }

  payOpenInvoices(customer: string): void {
    this.#course.payOpenInvoices(customer);
  }

  deleteCustomer(customerId: string): void {
    const customer = this.customer(customerId);
    for (const subscription of this.#ledger.subscriptionsOf(customerId)) this.#course.end(subscription);
    customer.isDeleted = true;
    this.#ledger.record('customer.deleted', customerId, { kind: 'customer', value: customer });
  }

  /**
   * Pays a checkout with a new card.
   * @param session its id, or its URL
   * @returns where the browser goes; undefined when the card was refused
   */
  pay(session: string, isGood = true): string | undefined {
    const checkout = this.checkout(session.split('/').at(-1) ?? '');
    if (checkout.status !== 'open') throw new Error(`The checkout ${checkout.id} is ${checkout.status}.`);
    if (!isGood) return undefined;
    const { customer, items, billingMode, metadata } = checkout;
    this.addCard(customer);
    const subscription = this.#course.subscribe({ customer, items, billingMode, metadata });
    checkout.status = 'complete';
    checkout.subscription = subscription.id;
    this.#ledger.record('checkout.session.completed', customer, { kind: 'checkout', value: checkout });
    return checkout.successUrl;
  }

  customer(id: string): KeptCustomer {
    return known(this.#ledger.customers.get(id), id);
  }

  subscription(id: string): KeptSubscription {
    return known(this.#ledger.subscriptions.get(id), id);
  }

  /** A checkout, which expires after a day. */
  checkout(id: string): KeptCheckout {
    const checkout = known(this.#ledger.checkouts.get(id), id);
    if (checkout.status === 'open' && checkout.expiresAt <= this.#ledger.now(checkout.customer))
      checkout.status = 'expired';
    return checkout;
  }

  #ordered(items: readonly (string | readonly [string, number])[]): { price: string; quantity: number }[] {
    return items.map((item) => {
      const [lookupKey, quantity] = typeof item === 'string' ? [item, 1] : item;
      const prices = [...this.#ledger.prices.values()];
      return {
        price: known(
          prices.find((price) => price.lookupKey === lookupKey),
          lookupKey,
        ).id,
        quantity,
      };
    });
  }
}

function known<T>(record: T | undefined, name: string): T {
  if (record === undefined) throw new Error(`The fake payment provider does not know ${name}.`);
  return record;
}

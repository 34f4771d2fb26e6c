import type { BilledParty, CustomerState } from '#entities/billing/provider-state.ts';

/** A price as the provider has it. */
export interface ProviderPrice {
  readonly id: string;
  readonly lookupKey: string;
  readonly productId: string;
  /** In the smallest unit of the currency; null for prices in tiers. */
  readonly unitAmount: number | null;
  /** ISO 4217, in lower case. */
  readonly currency: string;
  /** `month`, `year` or another interval of the provider; null for a price that is paid once. */
  readonly interval: string | null;
  /** False for a price that the provider sells no more. */
  readonly isActive: boolean;
}

/** An address to which the provider sends events. */
export interface ProviderWebhook {
  readonly id: string;
  readonly url: string;
  /** As the configuration names versions (`subscription.paymentwebhookapiversion`); null: the default of the account. */
  readonly apiVersion: string | null;
  readonly isEnabled: boolean;
  /** Types of the events; `*` stands for all. */
  readonly events: readonly string[];
}

/** A trial that the server starts. */
export interface TrialOrder {
  readonly organizationId: string;
  /** Prices of the modules, by their names in the catalogue. */
  readonly lookupKeys: readonly string[];
  readonly endsAt: Date;
}

/** An order of prices, and the pages to which the browser goes afterwards. */
export interface CheckoutOrder {
  readonly organizationId: string;
  /** Later orders of the organization have larger numbers. */
  readonly number: number;
  /** Prices, by their names in the catalogue. */
  readonly lookupKeys: readonly string[];
  readonly successUrl: string;
  readonly cancelUrl: string;
}

/**
 * The payment provider. No method repeats a request; the caller decides when it is tried again. None may be called inside a transaction.
 * Those with a `key` create something once for each key: a repetition gets the first answer, also if that was a failure of the provider
 * (`PaymentFailure.isReplayed`), for a day at least.
 * @throws PaymentFailure in every method
 */
export interface PaymentProvider {
  /** The customer with all its subscriptions. A deleted one has none. */
  readCustomer(customerId: string): Promise<CustomerState>;
  /**
   * Ids of the customers that were created for an organization, the oldest first.
   * @param email which the customer may have: its list is exact, while the search by organization finds new customers a minute later
   */
  findCustomers(organizationId: string, email: string | null): Promise<readonly string[]>;
  /** @returns its id */
  createCustomer(customer: BilledParty, key: string): Promise<string>;
  updateCustomer(customerId: string, customer: BilledParty): Promise<void>;
  /** Subscribes to the prices without a payment method; the provider cancels the subscription at the end if there is still none. */
  startTrial(customerId: string, trial: TrialOrder, key: string): Promise<void>;
  /** Opens a page that asks for payment. @returns its URL, a secret */
  openCheckout(customerId: string, order: CheckoutOrder, key: string): Promise<string>;
  /** Closes checkout pages that are open, so that nobody can pay them. @param before number of an order: only pages of earlier ones */
  expireCheckouts(customerId: string, before?: number): Promise<void>;
  /** Opens the page of a customer: payment methods, invoices, subscriptions. @returns its URL, a secret */
  openPortal(customerId: string, returnUrl: string): Promise<string>;
  /** Cancels a subscription at the end of its period, or takes that back. */
  setCancelAtPeriodEnd(subscriptionId: string, cancels: boolean): Promise<void>;
  /** Ends a subscription now. One that has ended, or that does not exist, stays as it is. */
  cancelNow(subscriptionId: string): Promise<void>;
  /** The prices of these names; names without a price are left out. */
  prices(lookupKeys: readonly string[]): Promise<readonly ProviderPrice[]>;
  webhookEndpoints(): Promise<readonly ProviderWebhook[]>;
  /**
   * Makes the provider send events to an address, from now on.
   * @param apiVersion as the configuration names it, such as 2026_02_25_CLOVER
   * @returns the id, and the secret with which the events are signed: the provider says it this once
   */
  registerWebhook(
    url: string,
    apiVersion: string,
    events: readonly string[],
  ): Promise<{ readonly id: string; readonly secret: string }>;
}

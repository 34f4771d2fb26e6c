/** The state of an organization at the payment provider, as plain values: read by the provider's client, judged by `entitlementsOf`. */

/** A part of a subscription that is paid for. */
export interface ProviderItem {
  readonly id: string;
  readonly priceId: string;
  readonly productId: string;
  /** Name of the price in the catalogue; null for a price that has none. */
  readonly lookupKey: string | null;
  /** 1 for prices without a quantity. */
  readonly quantity: number;
  /** In the smallest unit of the currency; null for prices in tiers. */
  readonly unitAmount: number | null;
  /** ISO 4217, in lower case. */
  readonly currency: string;
  /** `month`, `year` or another interval of the provider; null for a price that is paid once. */
  readonly interval: string | null;
}

/** A subscription as the provider has it. */
export interface ProviderSubscription {
  readonly id: string;
  /** As the provider writes it: a status that this release does not know is a text like the others. */
  readonly status: string;
  readonly items: readonly ProviderItem[];
  readonly trialEndsAt: Date | null;
  /** End of the period that is paid for; the latest one if the items have several. */
  readonly periodEndsAt: Date | null;
  /** When it will end, because somebody has cancelled it; null for one that continues. */
  readonly cancelsAt: Date | null;
  readonly endedAt: Date | null;
  /** When the provider tries again to collect an unpaid invoice; null when it does not. */
  readonly nextPaymentAttempt: Date | null;
  readonly daysUntilDue: number | null;
  readonly created: Date;
  /** Whether this server has started it as the trial of a new organization. */
  readonly isTrialOfServer: boolean;
}

/** A customer as the provider has it. */
export interface CustomerState {
  readonly isDeleted: boolean;
  /** Organization that the customer was created for; null for a customer that this server has not created, or that is deleted. */
  readonly organizationId: string | null;
  /** Where invoices are sent. */
  readonly email: string | null;
  readonly hasPaymentMethod: boolean;
  /** All of them, ended ones included; the newest first. */
  readonly subscriptions: readonly ProviderSubscription[];
}

/** A postal address. */
export interface BilledAddress {
  readonly line1: string | null;
  readonly line2: string | null;
  readonly city: string | null;
  readonly region: string | null;
  readonly postalCode: string | null;
  /** ISO 3166-1, two letters. */
  readonly country: string | null;
}

/** The organization as the provider knows it and names it on invoices. */
export interface BilledParty {
  readonly organizationId: string;
  readonly name: string;
  readonly email: string | null;
  readonly phone: string | null;
  readonly address: BilledAddress | null;
  readonly taxId: string | null;
}

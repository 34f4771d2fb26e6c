import { Stripe } from 'stripe';
import type { BilledParty, CustomerState, ProviderSubscription } from '#entities/billing/provider-state.ts';
import { apiVersionName, providerApiVersion } from './api-version-name.ts';
import { PaymentFailure } from './payment-failure.ts';
import type { CheckoutOrder, PaymentProvider, ProviderPrice, ProviderWebhook, TrialOrder } from './payment-provider.ts';
import { asked, known } from './stripe-failure.ts';
import { customerParams, metadata, priceOf, subscriptionOf } from './stripe-objects.ts';

export interface StripeSettings {
  /** Secret key of the account. */
  readonly key: string;
  /** Instead of the provider's own URL. */
  readonly url?: string | undefined;
  /** Maximum duration of one request with its answer, in milliseconds. */
  readonly timeoutMs?: number | undefined;
}

/** Largest page that the provider gives. */
const limit = 100;

/** Most lookup keys that one request may name. */
const maxLookupKeys = 10;

/** The mode is that of each subscription, not the default of the account, which depends on its age. */
const billingMode = { type: 'flexible' } as const;

/** The payment provider, with its own package and the API version of the package. */
export class StripeProvider implements PaymentProvider {
  readonly #stripe: Stripe;

  constructor({ key, url, timeoutMs = 20_000 }: StripeSettings) {
    this.#stripe = new Stripe(key, {
      ...(url === undefined ? {} : serverOf(new URL(url))),
      // Temporal tries again, or whoever has asked.
      maxNetworkRetries: 0,
      timeout: timeoutMs,
      telemetry: false,
      // Its other client repeats a request when the connection was closed, whatever the number of retries is. No redirects: a request
      // contains the key.
      httpClient: Stripe.createFetchHttpClient((input, init) => fetch(input, { ...init, redirect: 'error' })),
    });
  }

  readCustomer(customerId: string): Promise<CustomerState> {
    return asked(async () => {
      // Read together with the customer. Of a deleted one, nobody asks whether this succeeds.
      const lists = Promise.all([
        this.#stripe.customers.listPaymentMethods(customerId, { limit: 1 }),
        all((page) => this.#stripe.subscriptions.list({ customer: customerId, status: 'all', limit, ...page })),
      ]);
      lists.catch(() => {});
      const customer = known(await this.#stripe.customers.retrieve(customerId), 'customer');
      if (customer.deleted)
        return { isDeleted: true, organizationId: null, email: null, hasPaymentMethod: false, subscriptions: [] };
      const [methods, subscriptions] = await lists;
      return {
        isDeleted: false,
        organizationId: customer.metadata[metadata.organization] ?? null,
        email: customer.email,
        hasPaymentMethod: known(methods, 'list').data.length > 0,
        subscriptions: await Promise.all(subscriptions.map((one) => this.#subscription(one))),
      };
    });
  }

  findCustomers(organizationId: string, email: string | null): Promise<readonly string[]> {
    return asked(async () => {
      const listed = email === null ? [] : await all((page) => this.#stripe.customers.list({ email, limit, ...page }));
      const query = `metadata['${metadata.organization}']:'${organizationId}'`;
      const searched = known(await this.#stripe.customers.search({ query, limit }), 'search_result').data;
      const found = [...listed, ...searched].filter((one) => one.metadata[metadata.organization] === organizationId);
      const oldestFirst = found.toSorted((one, other) => one.created - other.created || (one.id < other.id ? -1 : 1));
      return [...new Set(oldestFirst.map(({ id }) => id))];
    });
  }

  createCustomer(customer: BilledParty, key: string): Promise<string> {
    return asked(async () => {
      const created = await this.#stripe.customers.create(customerParams(customer), { idempotencyKey: key });
      return known(created, 'customer').id;
    });
  }

  updateCustomer(customerId: string, customer: BilledParty): Promise<void> {
    return asked(async () => {
      known(await this.#stripe.customers.update(customerId, customerParams(customer)), 'customer');
    });
  }

  startTrial(customerId: string, { organizationId, lookupKeys, endsAt }: TrialOrder, key: string): Promise<void> {
    return asked(async () => {
      const subscription = await this.#stripe.subscriptions.create(
        {
          customer: customerId,
          items: await this.#order(lookupKeys),
          trial_end: Math.floor(endsAt.getTime() / 1_000),
          trial_settings: { end_behavior: { missing_payment_method: 'cancel' } },
          billing_mode: billingMode,
          metadata: { [metadata.organization]: organizationId, [metadata.trial]: 'true' },
        },
        { idempotencyKey: key },
      );
      known(subscription, 'subscription');
    });
  }

  openCheckout(customerId: string, order: CheckoutOrder, key: string): Promise<string> {
    return asked(async () => {
      const prices = await this.#order(order.lookupKeys);
      const session = await this.#stripe.checkout.sessions.create(
        {
          mode: 'subscription',
          customer: customerId,
          line_items: prices.map((price) => ({ ...price, quantity: 1 })),
          success_url: order.successUrl,
          cancel_url: order.cancelUrl,
          metadata: { [metadata.order]: String(order.number) },
          subscription_data: {
            billing_mode: billingMode,
            metadata: { [metadata.organization]: order.organizationId },
          },
        },
        { idempotencyKey: key },
      );
      const { url } = known(session, 'checkout.session');
      if (url === null) throw new PaymentFailure('refused', 'has closed this checkout');
      return url;
    });
  }

  expireCheckouts(customerId: string, before = Infinity): Promise<void> {
    const open = async () => {
      const sessions = await all((page) =>
        this.#stripe.checkout.sessions.list({ customer: customerId, status: 'open', limit, ...page }),
      );
      return sessions.filter((one) => Number(one.metadata?.[metadata.order] ?? 0) < before).map(({ id }) => id);
    };
    return asked(async () => {
      for (const id of await open())
        try {
          known(await this.#stripe.checkout.sessions.expire(id), 'checkout.session');
        } catch (error) {
          // One that was paid meanwhile is open no more.
          if ((await open()).includes(id)) throw error;
        }
    });
  }

  openPortal(customerId: string, returnUrl: string): Promise<string> {
    return asked(async () => {
      const session = await this.#stripe.billingPortal.sessions.create({ customer: customerId, return_url: returnUrl });
      return known(session, 'billing_portal.session').url;
    });
  }

  setCancelAtPeriodEnd(subscriptionId: string, cancels: boolean): Promise<void> {
    return asked(async () => {
      const changed = await this.#stripe.subscriptions.update(subscriptionId, { cancel_at_period_end: cancels });
      known(changed, 'subscription');
    });
  }

  async cancelNow(subscriptionId: string): Promise<void> {
    try {
      await asked(async () => known(await this.#stripe.subscriptions.cancel(subscriptionId), 'subscription'));
    } catch (error) {
      // The provider does not find a subscription that has ended.
      if (!(error instanceof PaymentFailure && error.reason === 'missing')) throw error;
    }
  }

  prices(lookupKeys: readonly string[]): Promise<readonly ProviderPrice[]> {
    return asked(async () => {
      const found: ProviderPrice[] = [];
      for (let from = 0; from < lookupKeys.length; from += maxLookupKeys) {
        const keys = lookupKeys.slice(from, from + maxLookupKeys);
        const prices = await all((page) => this.#stripe.prices.list({ lookup_keys: keys, limit, ...page }));
        found.push(...prices.map(priceOf));
      }
      return found;
    });
  }

  webhookEndpoints(): Promise<readonly ProviderWebhook[]> {
    return asked(async () => {
      const endpoints = await all((page) => this.#stripe.webhookEndpoints.list({ limit, ...page }));
      return endpoints.map((one) => ({
        id: one.id,
        url: one.url,
        apiVersion: one.api_version === null ? null : apiVersionName(one.api_version),
        isEnabled: one.status === 'enabled',
        events: one.enabled_events,
      }));
    });
  }

  registerWebhook(
    url: string,
    apiVersion: string,
    events: readonly string[],
  ): Promise<{ readonly id: string; readonly secret: string }> {
    return asked(async () => {
      // The types know the versions and events of this package only; the provider knows more.
      const endpoint = await this.#stripe.webhookEndpoints.create({
        url,
        api_version: providerApiVersion(apiVersion),
        enabled_events: [...events],
      } as Stripe.WebhookEndpointCreateParams);
      const { id, secret = '' } = known(endpoint, 'webhook_endpoint');
      return { id, secret };
    });
  }

  /**
   * Reads what an answer about a subscription leaves out: items after the tenth, and unpaid invoices, which only some have.
   * @param isLatest the subscription was read for the second time
   */
  async #subscription(subscription: Stripe.Subscription, isLatest = false): Promise<ProviderSubscription> {
    const { id, items, status } = known(subscription, 'subscription');
    const complete = items.has_more
      ? await all((page) => this.#stripe.subscriptionItems.list({ subscription: id, limit, ...page }))
      : items.data;
    const unpaid =
      status === 'past_due'
        ? await all((page) => this.#stripe.invoices.list({ subscription: id, status: 'open', limit, ...page }))
        : [];
    // Its invoice was paid between the two readings, or was written off: a second reading of the subscription says which.
    if (status === 'past_due' && unpaid.length === 0 && !isLatest)
      return this.#subscription(await this.#stripe.subscriptions.retrieve(id), true);
    return subscriptionOf(subscription, complete, unpaid);
  }

  /** Prices to order, by their lookup keys. @throws PaymentFailure for one that is not for sale */
  async #order(lookupKeys: readonly string[]): Promise<{ price: string }[]> {
    const prices = await this.prices(lookupKeys);
    return lookupKeys.map((lookupKey) => {
      const price = prices.find((one) => one.lookupKey === lookupKey && one.isActive);
      if (!price) throw new PaymentFailure('refused', `sells nothing under the lookup key ${lookupKey}`);
      return { price: price.id };
    });
  }
}

/** All records of a list, page by page. @throws PaymentFailure for pages that make no whole list */
async function all<T extends { readonly id: string }>(
  read: (page: { starting_after?: string }) => Promise<Stripe.ApiList<T>>,
): Promise<T[]> {
  const found: T[] = [];
  for (;;) {
    const last = found.at(-1);
    const { data, has_more: hasMore } = known(await read(last ? { starting_after: last.id } : {}), 'list');
    found.push(...data);
    const isTorn = new Set(found.map(({ id }) => id)).size < found.length || (hasMore && data.length === 0);
    if (isTorn) throw new PaymentFailure('unavailable', 'gave a list whose pages do not fit together');
    if (!hasMore) return found;
  }
}

function serverOf({ protocol, hostname, port }: URL): Pick<Stripe.StripeConfig, 'protocol' | 'host' | 'port'> {
  const isSecure = protocol === 'https:';
  return {
    protocol: isSecure ? 'https' : 'http',
    host: hostname,
    port: port === '' ? (isSecure ? 443 : 80) : Number(port),
  };
}

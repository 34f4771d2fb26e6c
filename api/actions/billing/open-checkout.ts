import { hash } from 'node:crypto';
import { Type } from 'typebox';
import { priceIn, type Catalogue } from '#entities/billing/catalogue/catalogue.ts';
import { isPurchased } from '#entities/billing/live-subscription.ts';
import { organizationBilling } from '#entities/billing/organization-billing.ts';
import { paymentUnavailable } from '#entities/billing/payment-errors.ts';
import { AppError, type FieldProblem } from '#entities/kit/base/errors.ts';
import { inputError } from '#entities/kit/base/input-error.ts';
import { organization } from '#entities/organizations/organization.ts';
import { systemCaller } from '#entities/kit/model/caller.ts';
import { missingRecord } from '#entities/kit/model/missing-record.ts';
import type { DataClient } from '#entities/kit/unit/data-client.ts';
import { askUnderKey } from '#runtime/ask-payment.ts';
import {
  billingOf,
  customerOf,
  existingCustomer,
  offersFor,
  returnUrlOf,
  subscriptionsOf,
  type Billing,
} from '../../people/billed-organization.ts';
import { defineAction } from '../kit/define-action.ts';

/** Time after which an order gets another page, in milliseconds: pages are open for a day, and keys are remembered for longer. */
const renewedAfterMs = 43_200_000;

export const openCheckout = defineAction({
  name: 'openCheckout',
  url: '/v1/billing/checkout',
  tag: 'Billing',
  summary: 'Open a checkout',
  description:
    'Opens a page of the payment provider on which an owner or super administrator subscribes the organization to `prices`; it can replace the trial that began with the organization. Another subscription is changed in the billing portal. The same order gets the same page for some hours. Afterwards, the page returns the browser to the pages that the operator has configured.',
  acceptsSingleSignOn: true,
  answersCredential: true,
  input: {
    prices: Type.Array(Type.String({ minLength: 1, maxLength: 200 }), {
      minItems: 1,
      maxItems: 20,
      uniqueItems: true,
      description:
        'Lookup keys of prices of the catalogue: one for each product, all with one interval, and one at least that costs something.',
    }),
  },
  answer: {
    url: Type.String({ description: 'URL of the page, valid for a day. It is a secret: with it, anybody can pay.' }),
  },
  title: 'CheckoutPage',
  status: 201,
  errors: [
    'invalid_input',
    'permission_denied',
    'rule_violated',
    'subscription_exists',
    'billing_disabled',
    'payment_unavailable',
    'payment_refused',
  ],
  outside: {
    prepare: async (asking, { prices }) => {
      const { unit, services } = asking;
      const billing = await billingOf(asking, 'change');
      const { organizationId } = billing;
      const { subscription } = services.config.current;
      refuseUnlikePrices(await offersFor(asking), prices);
      const subscriptions = await subscriptionsOf(unit.data, organizationId);
      refuseSecond(subscriptions);
      const order = {
        organizationId,
        lookupKeys: prices.toSorted(),
        successUrl: returnUrlOf(subscription),
        cancelUrl: subscription.paymentcancellationreturnurl,
      };
      const customerId = customerOf(asking, billing);
      // Subscriptions that have come and gone since belong to earlier checkouts.
      const known = subscriptions.flatMap(({ externalId }) => externalId ?? []).toSorted();
      const digest = digestOf([customerId, order, known, Math.floor(unit.clock.now().getTime() / renewedAfterMs)]);
      const data = unit.data.privileged('open checkout');
      const generation = await generationOf(data, billing, digest, ({ checkoutOrder }) => checkoutOrder !== digest);
      return { customerId, order, billing, digest, generation };
    },
    call: ({ payment, database }, { customerId, order, billing, digest, generation }) => {
      const keyOf = (number: number) => `${order.organizationId}/checkout/${number}`;
      const context = {
        caller: systemCaller('open checkout', order.organizationId),
        requestId: `checkout-${billing.id}`,
      };
      let number = generation;
      const nextKey = async () => {
        number = await database.transact(context, ({ data }) =>
          generationOf(data, billing, digest, (held) => held.checkoutGeneration === generation),
        );
        return keyOf(number);
      };
      const customer = existingCustomer(customerId);
      return askUnderKey(payment, { key: keyOf(generation), nextKey }, async (provider, key) => {
        refuseSecond((await provider.readCustomer(customer)).subscriptions);
        const url = await provider.openCheckout(customer, { ...order, number }, key);
        // Read afterwards: of several at once, only the page of the last order stays open; none of an organization deleted meanwhile.
        const last = await database.transact(context, ({ data }) => lastOrder(data, billing));
        await provider.expireCheckouts(customer, last);
        if (last === undefined) throw missingRecord(organizationBilling, billing.id);
        if (number < last) throw paymentUnavailable('Another checkout has replaced this one; try again.');
        // An earlier page may have been paid until it was closed.
        const { subscriptions } = await provider.readCustomer(customer);
        if (subscriptions.some(isPurchased)) await provider.expireCheckouts(customer);
        refuseSecond(subscriptions);
        return url;
      });
    },
  },
  run: (_asking, _input, url) => Promise.resolve({ url }),
});

/** @throws AppError invalid_input */
function refuseUnlikePrices(offered: Catalogue, prices: readonly string[]): void {
  const found = prices.map((lookupKey) => priceIn(offered, lookupKey));
  const foreign = found.flatMap<FieldProblem>((one, index) =>
    one
      ? []
      : {
          path: `/prices/${index}`,
          message: `"${prices[index]}" is not a price that the organization can order; GET /v1/billing/catalogue lists these`,
        },
  );
  if (foreign.length > 0) throw inputError(foreign);
  if (!found.some((one) => one && one.price.unitAmount > 0))
    throw inputError([{ path: '/prices', message: 'are all free; order at least one that costs something' }]);
  if (new Set(found.map((one) => one?.price.interval)).size > 1)
    throw inputError([{ path: '/prices', message: 'have different intervals; order either monthly or yearly prices' }]);
  if (new Set(found.map((one) => one?.entry.name)).size < prices.length)
    throw inputError([{ path: '/prices', message: 'name a product twice; order one price of each' }]);
}

/** @throws AppError subscription_exists */
function refuseSecond(subscriptions: readonly Parameters<typeof isPurchased>[0][]): void {
  const live = subscriptions.find(isPurchased);
  if (live)
    throw new AppError(
      'subscription_exists',
      `The organization has a subscription already (${live.status}); change it in the billing portal: POST /v1/billing/portal.`,
    );
}

/** Number of the last order; undefined when the organization was deleted. */
async function lastOrder(data: DataClient, { id, organizationId }: Billing): Promise<number | undefined> {
  const home = await data.findOne(organization, { id: { eq: organizationId } });
  const held = home && (await data.findOne(organizationBilling, { id: { eq: id } }));
  return held?.checkoutGeneration;
}

function digestOf(value: unknown): string {
  return hash('sha256', JSON.stringify(value), 'hex');
}

/**
 * The number of a checkout, which is part of its idempotency key.
 * @param digest stands for everything that the provider receives
 * @param isOver whether the last checkout of the locked row is not this one
 */
async function generationOf(
  data: DataClient,
  { id }: Billing,
  digest: string,
  isOver: (held: Billing) => boolean,
): Promise<number> {
  const held = await data.findLocked(organizationBilling, id);
  if (!held) throw missingRecord(organizationBilling, id);
  if (!isOver(held)) return held.checkoutGeneration;
  const next = { checkoutGeneration: held.checkoutGeneration + 1, checkoutOrder: digest };
  return (await data.update(organizationBilling, id, next)).checkoutGeneration;
}

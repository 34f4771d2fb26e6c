import { listOf, metadataOf, partOf, textOf, type Form, type FormValue } from './form-body.ts';
import { livingCustomer } from './customer-routes.ts';
import type { PaymentCourse } from './payment-course.ts';
import { hasEnded, type KeptItem, type KeptSubscription, type PaymentLedger } from './payment-ledger.ts';
import { page } from './payment-objects.ts';
import { found, ofLists, refuse, wantedPage, type PaymentRoute } from './payment-route.ts';

/** Longest trial. */
const maxTrialMs = 730 * 86_400_000;

/** Subscriptions with their items, invoices and prices. */
export function subscriptionRoutes(ledger: PaymentLedger, course: PaymentCourse): readonly PaymentRoute[] {
  return [
    {
      method: 'POST',
      path: /^\/v1\/subscriptions$/,
      takes: ['customer', 'items', 'trial_end', 'trial_settings', 'billing_mode', 'metadata', 'payment_settings'],
      handle: ({ form, objects }) => {
        const customer = livingCustomer(ledger, textOf(form, 'customer') ?? '').id;
        const trialEnd =
          textOf(form, 'trial_end') === undefined ? undefined : Number(textOf(form, 'trial_end')) * 1_000;
        const now = ledger.now(customer);
        if (trialEnd !== undefined && !(trialEnd > now && trialEnd < now + maxTrialMs))
          refuse(400, {
            message: 'Invalid trial_end: it must be in the future, and at most two years away.',
            param: 'trial_end',
          });
        const behaviour = textOf(partOf(partOf(form, 'trial_settings'), 'end_behavior'), 'missing_payment_method');
        const subscription = course.subscribe({
          customer,
          items: orderedItems(ledger, listOf(form, 'items')),
          trialEnd,
          withoutCard: (behaviour ?? 'create_invoice') as KeptSubscription['withoutCard'],
          billingMode: billingModeOf(form),
          metadata: metadataOf(form),
        });
        return objects.subscription(subscription);
      },
    },
    {
      method: 'GET',
      path: /^\/v1\/subscriptions$/,
      takes: [...ofLists, 'customer', 'status'],
      handle: ({ form, objects }) => {
        const status = textOf(form, 'status');
        const wanted = ledger
          .subscriptionsOf(textOf(form, 'customer') ?? '')
          .filter((one) => status === 'all' || (status === undefined ? !hasEnded(one) : one.status === status));
        return page(
          '/v1/subscriptions',
          wanted.map((one) => objects.subscription(one)),
          wantedPage(form),
        );
      },
    },
    {
      method: 'GET',
      path: /^\/v1\/subscriptions\/([^/]+)$/,
      takes: [],
      handle: ({ id, objects }) => objects.subscription(found(ledger.subscriptions, id, 'subscription')),
    },
    {
      method: 'POST',
      path: /^\/v1\/subscriptions\/([^/]+)$/,
      takes: ['cancel_at_period_end'],
      handle: ({ id, form, objects }) => {
        const subscription = found(ledger.subscriptions, id, 'subscription');
        if (hasEnded(subscription))
          refuse(400, { message: 'A canceled subscription can only update its cancellation_details and metadata.' });
        course.setCancelAtPeriodEnd(subscription, textOf(form, 'cancel_at_period_end') === 'true');
        return objects.subscription(subscription);
      },
    },
    {
      method: 'DELETE',
      path: /^\/v1\/subscriptions\/([^/]+)$/,
      takes: [],
      handle: ({ id, objects }) => {
        const subscription = found(ledger.subscriptions, id, 'subscription');
        if (hasEnded(subscription)) found(new Map(), id, 'subscription');
        course.end(subscription);
        return objects.subscription(subscription);
      },
    },
    {
      method: 'GET',
      path: /^\/v1\/subscription_items$/,
      takes: [...ofLists, 'subscription'],
      handle: ({ form, objects }) => {
        const subscription = found(ledger.subscriptions, textOf(form, 'subscription') ?? '', 'subscription');
        return page('/v1/subscription_items', objects.items(subscription), wantedPage(form));
      },
    },
    {
      method: 'GET',
      path: /^\/v1\/invoices$/,
      takes: [...ofLists, 'subscription', 'status'],
      handle: ({ form, objects }) => {
        const status = textOf(form, 'status');
        const wanted = [...ledger.invoices.values()].filter(
          (one) => one.subscription === textOf(form, 'subscription') && one.status === (status ?? one.status),
        );
        return page(
          '/v1/invoices',
          wanted.toReversed().map((one) => objects.invoice(one)),
          wantedPage(form),
        );
      },
    },
    {
      method: 'GET',
      path: /^\/v1\/prices$/,
      takes: [...ofLists, 'lookup_keys', 'active'],
      handle: ({ form, objects }) => {
        const keys = listOf(form, 'lookup_keys');
        if (keys.length > 10)
          refuse(400, { message: 'You may only specify up to 10 lookup_keys.', param: 'lookup_keys' });
        const active = textOf(form, 'active');
        const wanted = [...ledger.prices.values()].filter(
          (one) => keys.includes(one.lookupKey) && (active === undefined || String(one.isActive) === active),
        );
        return page(
          '/v1/prices',
          wanted.map((one) => objects.price(one)),
          wantedPage(form),
        );
      },
    },
  ];
}

/** The prices that a request orders. */
export function orderedItems(ledger: PaymentLedger, items: readonly FormValue[]): readonly Omit<KeptItem, 'id'>[] {
  if (items.length === 0)
    refuse(400, { code: 'parameter_missing', message: 'Missing required param: items.', param: 'items' });
  if (items.length > 20) refuse(400, { message: 'A subscription has at most 20 items.', param: 'items' });
  return items.map((item) => {
    const order = typeof item === 'object' && !Array.isArray(item) ? item : {};
    const price = found(ledger.prices, textOf(order, 'price') ?? '', 'price');
    if (!price.isActive) refuse(400, { message: `The price ${price.id} is inactive.`, param: 'items[price]' });
    return { price: price.id, quantity: Number(textOf(order, 'quantity') ?? 1) };
  });
}

/** The mode that a request pins; accounts have their own default. */
export function billingModeOf(form: Form): string {
  return textOf(partOf(form, 'billing_mode'), 'type') ?? 'classic';
}

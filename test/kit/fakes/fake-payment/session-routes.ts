import { listOf, metadataOf, partOf, textOf, type Form } from './form-body.ts';
import { livingCustomer } from './customer-routes.ts';
import type { KeptCheckout, KeptEndpoint, PaymentLedger } from './payment-ledger.ts';
import { page } from './payment-objects.ts';
import { found, ofLists, refuse, wantedPage, type PaymentRoute } from './payment-route.ts';
import { billingModeOf, orderedItems } from './subscription-routes.ts';

/** How long a checkout can be paid. */
const checkoutMs = 86_400_000;

/** Sessions of checkout and portal, and endpoints for events. */
export function sessionRoutes(ledger: PaymentLedger, pages: () => string): readonly PaymentRoute[] {
  const urlOfCheckout = ({ id }: KeptCheckout) => `${pages()}/checkout/${id}`;
  return [
    {
      method: 'POST',
      path: /^\/v1\/checkout\/sessions$/,
      takes: ['mode', 'customer', 'line_items', 'success_url', 'cancel_url', 'subscription_data', 'metadata'],
      handle: ({ form, objects }) => {
        if (textOf(form, 'mode') !== 'subscription')
          refuse(400, { message: 'The fake has subscriptions only.', param: 'mode' });
        const customer = livingCustomer(ledger, textOf(form, 'customer') ?? '').id;
        const data = partOf(form, 'subscription_data');
        const checkout: KeptCheckout = {
          id: ledger.newId('cs_test'),
          customer,
          items: orderedItems(ledger, listOf(form, 'line_items')),
          successUrl: urlOf(form, 'success_url'),
          cancelUrl: urlOf(form, 'cancel_url'),
          metadata: metadataOf(data),
          ownMetadata: metadataOf(form),
          billingMode: billingModeOf(data),
          expiresAt: ledger.now(customer) + checkoutMs,
          status: 'open',
          subscription: null,
        };
        ledger.checkouts.set(checkout.id, checkout);
        return objects.checkout(checkout, urlOfCheckout(checkout));
      },
    },
    {
      method: 'GET',
      path: /^\/v1\/checkout\/sessions$/,
      takes: [...ofLists, 'customer', 'status'],
      handle: ({ form, objects }) => {
        const customer = livingCustomer(ledger, textOf(form, 'customer') ?? '').id;
        const wanted = [...ledger.checkouts.values()].filter(
          (one) => one.customer === customer && one.status === (textOf(form, 'status') ?? one.status),
        );
        return page(
          '/v1/checkout/sessions',
          wanted.toReversed().map((one) => objects.checkout(one, urlOfCheckout(one))),
          wantedPage(form),
        );
      },
    },
    {
      method: 'POST',
      path: /^\/v1\/checkout\/sessions\/([^/]+)\/expire$/,
      takes: [],
      handle: ({ id, objects }) => {
        const checkout = found(ledger.checkouts, id, 'checkout.session');
        if (checkout.status !== 'open')
          refuse(400, { message: `Only open sessions can be expired; this one is ${checkout.status}.` });
        checkout.status = 'expired';
        return objects.checkout(checkout, urlOfCheckout(checkout));
      },
    },
    {
      method: 'POST',
      path: /^\/v1\/billing_portal\/sessions$/,
      takes: ['customer', 'return_url'],
      handle: ({ form }) => {
        const customer = livingCustomer(ledger, textOf(form, 'customer') ?? '').id;
        const session = { id: ledger.newId('bps'), customer, returnUrl: urlOf(form, 'return_url') };
        ledger.portals.set(session.id, session);
        return {
          id: session.id,
          object: 'billing_portal.session',
          customer,
          return_url: session.returnUrl,
          url: `${pages()}/portal/${session.id}`,
          livemode: false,
        };
      },
    },
    {
      method: 'GET',
      path: /^\/v1\/webhook_endpoints$/,
      takes: ofLists,
      handle: ({ form, objects }) => {
        const endpoints = [...ledger.endpoints.values()].map((one) => objects.endpoint(one, false));
        return page('/v1/webhook_endpoints', endpoints, wantedPage(form));
      },
    },
    {
      method: 'POST',
      path: /^\/v1\/webhook_endpoints$/,
      takes: ['url', 'api_version', 'enabled_events', 'description'],
      handle: ({ form, objects }) => {
        const id = ledger.newId('we');
        const endpoint: KeptEndpoint = {
          id,
          url: urlOf(form, 'url'),
          secret: `whsec_${id.slice(3)}`,
          apiVersion: textOf(form, 'api_version') ?? null,
          events: listOf(form, 'enabled_events').map(String),
          isEnabled: true,
        };
        ledger.endpoints.set(id, endpoint);
        return objects.endpoint(endpoint, true);
      },
    },
  ];
}

function urlOf(form: Form, name: string): string {
  const url = textOf(form, name) ?? '';
  if (!URL.canParse(url)) refuse(400, { code: 'url_invalid', message: 'Not a valid URL', param: name });
  return url;
}

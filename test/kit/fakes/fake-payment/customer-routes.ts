import { listOf, metadataOf, partOf, textOf, type Form } from './form-body.ts';
import type { KeptCustomer, PaymentLedger } from './payment-ledger.ts';
import { page, pageSize } from './payment-objects.ts';
import { found, ofLists, refuse, wantedPage, type PaymentRoute } from './payment-route.ts';

/** Time for which the search does not find a new customer. */
const searchLagMs = 60_000;

const partyFields = ['email', 'name', 'phone', 'address', 'metadata', 'invoice_settings'];

/** Customers and their payment methods. */
export function customerRoutes(ledger: PaymentLedger): readonly PaymentRoute[] {
  /** The newest first. */
  const living = () => [...ledger.customers.values()].filter(({ isDeleted }) => !isDeleted).toReversed();
  return [
    {
      method: 'POST',
      path: /^\/v1\/customers$/,
      takes: partyFields,
      handle: ({ form, objects }) => {
        const customer: KeptCustomer = {
          id: ledger.newId('cus'),
          created: ledger.now(),
          email: null,
          name: null,
          phone: null,
          address: null,
          metadata: {},
          invoiceFields: [],
          isDeleted: false,
          aheadMs: 0,
          failuresToCome: 0,
        };
        change(customer, form);
        ledger.customers.set(customer.id, customer);
        ledger.record('customer.created', customer.id, { kind: 'customer', value: customer });
        return objects.customer(customer);
      },
    },
    {
      method: 'GET',
      path: /^\/v1\/customers$/,
      takes: [...ofLists, 'email'],
      handle: ({ form, objects }) => {
        const email = textOf(form, 'email');
        const wanted = living().filter((one) => email === undefined || one.email === email);
        return page(
          '/v1/customers',
          wanted.map((one) => objects.customer(one)),
          wantedPage(form),
        );
      },
    },
    {
      method: 'GET',
      path: /^\/v1\/customers\/search$/,
      takes: ['query', 'limit', 'page'],
      handle: ({ form, objects }) => {
        const [, name = '', value] = /^metadata\['(\w+)'\]:'([^']*)'$/.exec(textOf(form, 'query') ?? '') ?? [];
        if (value === undefined) refuse(400, { message: 'The fake does not understand this query.', param: 'query' });
        const wanted = living().filter(
          (one) => one.metadata[name] === value && ledger.now() - one.created >= searchLagMs,
        );
        const from = Number(textOf(form, 'page') ?? 0);
        const data = wanted.slice(from, from + pageSize).map((one) => objects.customer(one));
        const next = from + data.length;
        const hasMore = next < wanted.length;
        return {
          object: 'search_result',
          url: '/v1/customers/search',
          has_more: hasMore,
          next_page: hasMore ? String(next) : null,
          data,
        };
      },
    },
    {
      method: 'GET',
      path: /^\/v1\/customers\/([^/]+)$/,
      takes: [],
      handle: ({ id, objects }) => objects.customer(found(ledger.customers, id, 'customer')),
    },
    {
      method: 'POST',
      path: /^\/v1\/customers\/([^/]+)$/,
      takes: partyFields,
      handle: ({ id, form, objects }) => {
        const customer = livingCustomer(ledger, id);
        change(customer, form);
        ledger.record('customer.updated', id, { kind: 'customer', value: customer });
        return objects.customer(customer);
      },
    },
    {
      method: 'GET',
      path: /^\/v1\/customers\/([^/]+)\/payment_methods$/,
      takes: ofLists,
      handle: ({ id, form, objects }) => {
        const cards = ledger.cardsOf(livingCustomer(ledger, id).id).map((card) => objects.card(card));
        return page(`/v1/customers/${id}/payment_methods`, cards, wantedPage(form));
      },
    },
  ];
}

/** A customer that is not deleted. */
export function livingCustomer(ledger: PaymentLedger, id: string): KeptCustomer {
  const customer = found(ledger.customers, id, 'customer');
  return customer.isDeleted ? found(new Map<string, KeptCustomer>(), id, 'customer') : customer;
}

/** Takes over what a request says; an empty text removes it. */
function change(customer: KeptCustomer, form: Form): void {
  for (const name of ['email', 'name', 'phone'] as const) {
    const value = textOf(form, name);
    if (value !== undefined) customer[name] = value === '' ? null : value;
  }
  if (customer.email !== null && !/^[^@\s]+@[^@\s]+$/.test(customer.email))
    refuse(400, { code: 'email_invalid', message: `Invalid email address: ${customer.email}`, param: 'email' });
  if (form['address'] !== undefined) {
    const texts = Object.entries(partOf(form, 'address')).map(([name, value]) => [name, value === '' ? null : value]);
    customer.address = form['address'] === '' ? null : (Object.fromEntries(texts) as Record<string, string | null>);
  }
  for (const [name, value] of Object.entries(metadataOf(form)))
    if (value === '') delete customer.metadata[name];
    else customer.metadata[name] = value;
  const settings = partOf(form, 'invoice_settings');
  if (settings['custom_fields'] !== undefined)
    customer.invoiceFields = listOf(settings, 'custom_fields') as unknown as KeptCustomer['invoiceFields'];
}

import { escapeHtml } from '#entities/kit/base/escape-html.ts';
import type { FakeAnswer, FakeRequest } from '../http-fake.ts';
import type { SentEvent } from './payment-events.ts';
import type { PaymentDesk } from './payment-desk.ts';
import { hasEnded, type KeptCustomer, type KeptSubscription, type PaymentLedger } from './payment-ledger.ts';

const day = 86_400_000;

const shownEvents = 20;

const style = `body{font:16px/1.5 system-ui,sans-serif;max-width:46rem;margin:2rem auto;padding:0 1rem;color:#1b1f24}
table{border-collapse:collapse;width:100%}td,th{text-align:left;padding:.3rem .6rem .3rem 0;vertical-align:top}
form{display:inline}button{font:inherit;padding:.3rem .8rem;margin:.2rem .3rem .2rem 0;cursor:pointer}
.note{color:#57606a}`;

/** Buttons of the portal, with what they do. */
const portalActions = {
  'add-card': 'Add a card',
  'add-refused-card': 'Add a card that the bank refuses',
  'remove-cards': 'Remove all cards',
  'fail-next': 'Let the next payment fail',
  pay: 'Pay open invoices',
} as const;

/** Path of the page to which `npm start` has browsers return: it stands for that of a console. */
const planPath = '/plan';

/** The pages of the fake payment provider: checkout, portal, and a list of all customers with their test clocks. */
export class PaymentPages {
  readonly #ledger: PaymentLedger;
  readonly #desk: PaymentDesk;
  readonly #sent: readonly SentEvent[];
  readonly #advance: (ms: number, customer?: string) => void;

  constructor(
    ledger: PaymentLedger,
    desk: PaymentDesk,
    sent: readonly SentEvent[],
    advance: (ms: number, customer?: string) => void,
  ) {
    this.#ledger = ledger;
    this.#desk = desk;
    this.#sent = sent;
    this.#advance = advance;
  }

  /** Answers a request for a page; undefined for all others. */
  answer({ method, path, query, body }: FakeRequest): FakeAnswer | undefined {
    const [, name = '', id = ''] = /^\/(checkout|portal|clock|)(?:\/([^/]*))?$/.exec(path) ?? [];
    const form = new URLSearchParams(body);
    const isPost = method === 'POST';
    if (path === '/') return shown('Payment provider of this machine', this.#overview());
    if (path === planPath) return planPage(query.get('paymentupdate') === 'complete');
    if (name === 'clock' && isPost) {
      const customer = id === '' ? undefined : id;
      this.#advance(Number(form.get('days')) * day, customer);
      return leadTo(id === '' ? '/' : `/portal/${id}`, `The clock shows ${dateOf(this.#ledger.now(customer))}.`);
    }
    if (name === 'checkout' && this.#ledger.checkouts.has(id)) return this.#checkout(id, isPost ? form : undefined);
    const session = this.#ledger.portals.get(id);
    const customer = this.#ledger.customers.get(session?.customer ?? id);
    if (name !== 'portal' || !customer) return undefined;
    if (!isPost) return shown('Billing portal', this.#portal(customer, path, session?.returnUrl));
    this.#act(customer.id, form);
    return leadTo(path, `Done: ${[...form.values()].join(', ')}.`);
  }

  #overview(): string {
    const rows = [...this.#ledger.customers.values()].map((customer) => {
      const subscriptions = this.#ledger
        .subscriptionsOf(customer.id)
        .map((one) => `${one.status}: ${this.#contents(one)}`);
      return `<tr><td><a href="/portal/${customer.id}">${escapeHtml(customer.name ?? customer.id)}</a>
        ${customer.isDeleted ? '(deleted)' : ''}</td><td>${subscriptions.map(escapeHtml).join('<br>') || 'none'}</td></tr>`;
    });
    const events = this.#sent
      .slice(-shownEvents)
      .toReversed()
      .map(({ type, status }) => `${escapeHtml(type)}: ${status || 'none'}`);
    return `<p class="note">A fake, started by npm start. No money moves.</p>
      <h2>Clock of all customers</h2><p>${dateOf(this.#ledger.now())}</p>${clockButtons('')}
      <h2>Customers</h2><table><tr><th>Name</th><th>Subscriptions</th></tr>${rows.join('')}</table>
      <h2>Last events, with the answers of the API</h2><p>${events.join('<br>') || 'none'}</p>`;
  }

  #checkout(id: string, form: URLSearchParams | undefined): FakeAnswer {
    const checkout = this.#desk.checkout(id);
    const isOpen = checkout.status === 'open';
    if (form && isOpen) {
      const to = this.#desk.pay(id, form.get('card') !== 'refused');
      if (to !== undefined) return leadTo(to, `Paid. The browser continues at ${to}.`);
    }
    const prices = checkout.items.map((item) => ({ ...this.#ledger.priceOf(item), quantity: item.quantity }));
    const lines = prices.map(
      ({ lookupKey, quantity, ...price }) =>
        `<tr><td>${escapeHtml(lookupKey)}</td><td>${quantity}</td><td>${money(price.unitAmount, price.currency)} each ${price.interval}</td></tr>`,
    );
    const buttons = `<form method="post"><button name="card" value="good">Pay</button>
      <button name="card" value="refused">Pay with a card that the bank refuses</button></form>`;
    return shown(
      'Checkout',
      `${form && isOpen ? '<p role="alert">Your card was declined.</p>' : ''}
      <table><tr><th>Price</th><th>Quantity</th><th>Amount</th></tr>${lines.join('')}</table>
      ${isOpen ? buttons : `<p>This checkout ${checkout.status === 'expired' ? 'has expired' : 'was paid'}.</p>`}
      <p><a href="${escapeHtml(checkout.cancelUrl)}">Back without paying</a></p>`,
    );
  }

  #portal(customer: KeptCustomer, path: string, returnUrl: string | undefined): string {
    const cards = this.#ledger.cardsOf(customer.id).map(({ isGood }) => (isGood ? 'good' : 'refused by the bank'));
    const subscriptions = this.#ledger.subscriptionsOf(customer.id).map((one) => this.#subscriptionRow(one));
    const invoices = [...this.#ledger.invoices.values()]
      .filter((one) => one.customer === customer.id)
      .map(
        (one) =>
          `<tr><td>${dateOf(one.created)}</td><td>${money(one.amount, one.currency)}</td><td>${one.status}</td></tr>`,
      );
    const buttons = Object.entries(portalActions).map(([action, label]) => button('action', action, label));
    return `<p>${escapeHtml(customer.name ?? '')} ${escapeHtml(customer.email ?? '')}</p>
      <h2>Cards</h2><p>${cards.join(', ') || 'none'}</p><form method="post" action="${path}">${buttons.join('')}</form>
      <h2>Subscriptions</h2><table>${subscriptions.join('') || '<tr><td>none</td></tr>'}</table>
      <h2>Invoices</h2><table>${invoices.join('') || '<tr><td>none</td></tr>'}</table>
      <h2>Clock of this customer</h2><p>${dateOf(this.#ledger.now(customer.id))}</p>${clockButtons(customer.id)}
      <p>${returnUrl === undefined ? '<a href="/">All customers</a>' : `<a href="${escapeHtml(returnUrl)}">Return</a>`}</p>`;
  }

  #subscriptionRow(one: KeptSubscription): string {
    const end = one.cancelAt === null ? `until ${dateOf(one.periodEnd)}` : `ends ${dateOf(one.cancelAt)}`;
    const actions = one.cancelAt === null ? button('cancel', one.id, 'Cancel') : button('resume', one.id, 'Resume');
    return `<tr><td>${escapeHtml(one.status)}</td><td>${escapeHtml(this.#contents(one))}</td><td>${end}</td>
      <td>${hasEnded(one) ? '' : `<form method="post">${actions}${button('end', one.id, 'End now')}</form>`}</td></tr>`;
  }

  #act(customer: string, form: URLSearchParams): void {
    for (const [name, value] of form) {
      if (name === 'cancel' || name === 'resume') this.#desk.setCancelAtPeriodEnd(value, name === 'cancel');
      if (name === 'end') this.#desk.cancel(value);
      if (name !== 'action') continue;
      if (value === 'add-card' || value === 'add-refused-card') this.#desk.addCard(customer, value === 'add-card');
      if (value === 'remove-cards') this.#desk.removeCards(customer);
      if (value === 'fail-next') this.#desk.failNextPayments(customer);
      if (value === 'pay') this.#desk.payOpenInvoices(customer);
    }
  }

  #contents({ items }: KeptSubscription): string {
    return items.map((item) => `${this.#ledger.priceOf(item).lookupKey} × ${item.quantity}`).join(', ');
  }
}

function clockButtons(customer: string): string {
  const steps = { 1: 'a day', 7: 'a week', 31: 'a month' };
  const buttons = Object.entries(steps).map(([days, label]) => button('days', days, `Advance by ${label}`));
  return `<form method="post" action="/clock/${customer}">${buttons.join('')}</form>`;
}

const button = (name: string, value: string, label: string): string =>
  `<button name="${name}" value="${escapeHtml(value)}">${label}</button>`;

const dateOf = (ms: number): string => new Date(ms).toISOString().slice(0, 16).replace('T', ' ');

const money = (amount: number, currency: string): string => `${(amount / 100).toFixed(2)} ${currency.toUpperCase()}`;

/** @param done what curl shows, which does not follow */
const leadTo = (location: string, done: string): FakeAnswer => ({
  status: 303,
  body: null,
  text: `${done}\n`,
  headers: { location, 'content-type': 'text/plain; charset=utf-8' },
});

function planPage(isComplete: boolean): FakeAnswer {
  return shown(
    isComplete ? 'Payment update complete' : 'Plan of your organization',
    `<p class="note">npm start has no console. Elsewhere, this is the page that subscription.paymentbillingportalsuccessurl names:
      it shows the answer of GET /v1/billing/plan.</p><p><a href="/">Customers, with their billing portals and test clocks</a></p>`,
  );
}

function shown(title: string, content: string): FakeAnswer {
  const text = `<!doctype html><html lang="en"><head><meta charset="utf-8"><title>${title}</title><style>${style}</style></head>
    <body><h1>${title}</h1>${content}</body></html>`;
  return { status: 200, body: null, text, headers: { 'content-type': 'text/html; charset=utf-8' } };
}

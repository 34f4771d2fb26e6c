import { ManualClock, type Clock } from '#entities/kit/base/clock.ts';
import { PaymentCourse } from './fake-payment/payment-course.ts';
import { PaymentDesk } from './fake-payment/payment-desk.ts';
import { PaymentEvents } from './fake-payment/payment-events.ts';
import { PaymentLedger, type KeptEndpoint } from './fake-payment/payment-ledger.ts';
import { PaymentPages } from './fake-payment/payment-pages.ts';
import { problem } from './fake-payment/payment-route.ts';
import { PaymentRoutes } from './fake-payment/payment-routes.ts';
import { PlannedFailures, type PaymentBehaviour, type Which } from './fake-payment/planned-failures.ts';
import { HttpFake, type Answering, type FakeRequest } from './http-fake.ts';

/** API version of requests that name none, and of endpoints without one: older than what the product reads. */
const accountVersion = '2024-06-20';

interface Options {
  /** Time of the provider: one that stands still, unless a test brings the clock of its world. */
  readonly clock?: Clock;
  readonly port?: number;
  readonly apiKey?: string;
}

/**
 * The payment provider over HTTP, with a state: customers, cards, subscriptions with their renewals and failed payments, checkout and portal
 * (pages, too), idempotency keys, a search that lags, lists in pages of ten, API versions, signed events.
 */
export class FakePaymentProvider {
  readonly apiKey: string;
  /** The time of the provider. Test clocks of customers are ahead of it. */
  clock: Clock;
  readonly ledger = new PaymentLedger(() => this.clock.now().getTime());
  readonly course = new PaymentCourse(this.ledger);
  readonly desk = new PaymentDesk(this.ledger, this.course);
  readonly events = new PaymentEvents(this.ledger, () => this.clock.now(), accountVersion);
  readonly #failures = new PlannedFailures(() => this.clock.now().getTime());
  readonly #routes = new PaymentRoutes(this.ledger, this.course, () => this.url);
  readonly #pages = new PaymentPages(this.ledger, this.desk, this.events.sent, (ms, customer) =>
    this.advance(ms, customer),
  );
  #http: HttpFake | undefined;

  private constructor(clock: Clock, apiKey: string) {
    this.clock = clock;
    this.apiKey = apiKey;
  }

  static async start({
    clock = new ManualClock(new Date()),
    port,
    apiKey = 'sk_test_fakePaymentProvider',
  }: Options = {}): Promise<FakePaymentProvider> {
    const fake = new FakePaymentProvider(clock, apiKey);
    fake.#http = await HttpFake.start((request) => fake.#answer(request), port);
    return fake;
  }

  get url(): string {
    return this.#http?.url ?? '';
  }

  get requests(): readonly FakeRequest[] {
    return this.#http?.requests ?? [];
  }

  /** Plans what happens to the next requests. */
  behave(behaviour: PaymentBehaviour, which: Which = {}): void {
    this.#failures.plan(behaviour, which);
  }

  /** Forgets what was planned. */
  behaveWell(): void {
    this.#failures.clear();
  }

  /** Adds an endpoint for events, as somebody does in the dashboard. */
  addEndpoint(endpoint: Pick<KeptEndpoint, 'url' | 'secret'> & Partial<KeptEndpoint>): KeptEndpoint {
    const id = this.ledger.newId('we');
    const added: KeptEndpoint = { id, apiVersion: null, events: ['*'], isEnabled: true, ...endpoint };
    this.ledger.endpoints.set(id, added);
    return added;
  }

  /** Lets time pass, and all happen that is due by then: for one customer, or for all. */
  advance(ms: number, customer?: string): void {
    for (let left = ms; ;) {
      const [next] = [...this.ledger.subscriptions.values()]
        .filter((one) => customer === undefined || one.customer === customer)
        .flatMap((subscription) => {
          const at = this.course.nextTime(subscription);
          return at === undefined
            ? []
            : [{ subscription, inMs: Math.max(0, at - this.ledger.now(subscription.customer)) }];
        })
        .toSorted((one, other) => one.inMs - other.inMs);
      if (!next || next.inMs > left) return this.#shift(left, customer);
      this.#shift(next.inMs, customer);
      left -= next.inMs;
      this.course.step(next.subscription);
    }
  }

  async close(): Promise<void> {
    await this.#http?.close();
  }

  #shift(ms: number, customer: string | undefined): void {
    if (customer !== undefined) this.desk.customer(customer).aheadMs += ms;
    else if (this.clock instanceof ManualClock) this.clock.advance(ms);
    else this.ledger.aheadMs += ms;
  }

  #answer(request: FakeRequest): Answering {
    this.advance(0);
    const shown = this.#pages.answer(request);
    if (shown) return shown;
    const [, key = ''] = /^Bearer (.*)$/.exec(request.headers.authorization ?? '') ?? [];
    if (key !== this.apiKey)
      return problem(401, { message: `Invalid API Key provided: ${key.slice(0, 8)}****${key.slice(-4)}` });
    const version = request.headers['stripe-version'];
    return this.#failures.answer(request, () =>
      this.#routes.answer(request, typeof version === 'string' ? version : accountVersion),
    );
  }
}

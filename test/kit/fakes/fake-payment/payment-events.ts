import { createHmac } from 'node:crypto';
import type { Random } from '../../random.ts';
import type { KeptEndpoint, KeptEvent, PaymentLedger } from './payment-ledger.ts';
import { PaymentObjects } from './payment-objects.ts';

/** Shares, from 0 to 1, of the events that something happens to on their way. Late events are sent the next time. */
export interface Journey {
  readonly random: Random;
  readonly lost?: number;
  readonly duplicated?: number;
  readonly late?: number;
  readonly isShuffled?: boolean;
}

/** An event for one endpoint. */
interface Delivery {
  readonly event: KeptEvent;
  readonly endpoint: KeptEndpoint;
}

/** How an endpoint has answered; status 0: not at all. */
export interface SentEvent {
  readonly id: string;
  readonly type: string;
  readonly url: string;
  readonly status: number;
}

/** The header with which the provider signs a body. @param at when it is sent, by the clock of the receiver */
export function signatureOf(body: string, secret: string, at: Date): string {
  const t = Math.floor(at.getTime() / 1_000);
  return `t=${t},v1=${createHmac('sha256', secret).update(`${t}.${body}`).digest('hex')}`;
}

/** Sends the events of the ledger to the endpoints that want them. An event that is not acknowledged is sent again the next time. */
export class PaymentEvents {
  /** All that was sent, in the order of the answers. */
  readonly sent: SentEvent[] = [];
  readonly #ledger: PaymentLedger;
  readonly #clock: () => Date;
  readonly #accountVersion: string;
  #waiting: Delivery[] = [];
  #read = 0;
  #sending: Promise<unknown> = Promise.resolve();

  /** @param clock by which deliveries are signed: test clocks of customers do not change it */
  constructor(ledger: PaymentLedger, clock: () => Date, accountVersion: string) {
    this.#ledger = ledger;
    this.#clock = clock;
    this.#accountVersion = accountVersion;
  }

  /** Number of deliveries that wait. */
  get waiting(): number {
    this.#readEvents();
    return this.#waiting.length;
  }

  /** Forgets what waits: no endpoint gets it. */
  drop(): void {
    this.#readEvents();
    this.#waiting = [];
  }

  /** Sends what waits. Calls follow each other. @param atOnce number of requests at the same time */
  send(journey?: Journey, atOnce = 1): Promise<void> {
    const sending = this.#sending.then(() => this.#sendAll(journey, atOnce));
    this.#sending = sending.catch(() => {});
    return sending;
  }

  /** The body of an event for an endpoint, as it is sent. */
  bodyOf(event: KeptEvent, endpoint: Pick<KeptEndpoint, 'apiVersion'>): string {
    const version = endpoint.apiVersion ?? this.#accountVersion;
    return JSON.stringify(new PaymentObjects(this.#ledger, version).event(event, version));
  }

  async #sendAll(journey: Journey | undefined, atOnce: number): Promise<void> {
    this.#readEvents();
    const deliveries = this.#waiting;
    this.#waiting = [];
    const now = journey ? this.#after(journey, deliveries) : deliveries;
    const next = now.values();
    const work = async (): Promise<void> => {
      for (const delivery of next) {
        const status = await this.#post(delivery);
        const { event, endpoint } = delivery;
        this.sent.push({ id: event.id, type: event.type, url: endpoint.url, status });
        if (status < 200 || status > 299) this.#waiting.push(delivery);
      }
    };
    await Promise.all(Array.from({ length: atOnce }, work));
  }

  #after({ random, lost = 0, duplicated = 0, late = 0, isShuffled }: Journey, all: readonly Delivery[]): Delivery[] {
    const now = all.flatMap((delivery) => {
      if (random.chance(lost)) return [];
      if (!random.chance(late)) return random.chance(duplicated) ? [delivery, delivery] : [delivery];
      this.#waiting.push(delivery);
      return [];
    });
    return isShuffled ? random.shuffled(now) : now;
  }

  #readEvents(): void {
    const endpoints = [...this.#ledger.endpoints.values()].filter(({ isEnabled }) => isEnabled);
    for (; this.#read < this.#ledger.events.length; this.#read += 1) {
      const event = this.#ledger.events[this.#read] as KeptEvent;
      const wanting = endpoints.filter(({ events }) => events.includes('*') || events.includes(event.type));
      this.#waiting.push(...wanting.map((endpoint) => ({ event, endpoint })));
    }
  }

  async #post({ event, endpoint }: Delivery): Promise<number> {
    const body = this.bodyOf(event, endpoint);
    try {
      const answer = await fetch(endpoint.url, {
        method: 'POST',
        headers: {
          'content-type': 'application/json; charset=utf-8',
          'stripe-signature': signatureOf(body, endpoint.secret, this.#clock()),
        },
        body,
        signal: AbortSignal.timeout(30_000),
      });
      await answer.body?.cancel();
      return answer.status;
    } catch {
      return 0;
    }
  }
}

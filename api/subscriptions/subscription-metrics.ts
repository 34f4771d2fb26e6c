import { Counter, Gauge, Histogram } from 'prom-client';
import type { MetricsRegistry } from '#runtime/metrics/process-metrics.ts';

/** How a client is connected. */
export type Transport = 'sse' | 'websocket';

/** Metrics of subscriptions for operators. */
export class SubscriptionMetrics {
  readonly opened: Counter<'transport'>;
  readonly ended: Counter<'reason'>;
  readonly messages: Counter<'field'>;
  readonly #delays: Histogram;

  constructor(
    registry: MetricsRegistry,
    counts: () => { readonly connections: number; readonly subscriptions: number },
  ) {
    const registers = [registry];
    this.opened = new Counter({
      name: 'core_subscriptions_opened_total',
      help: 'GraphQL subscriptions that were begun, by transport: sse or websocket.',
      labelNames: ['transport'] as const,
      registers,
    });
    this.ended = new Counter({
      name: 'core_subscriptions_ended_total',
      help: 'GraphQL subscriptions that have ended, by reason: client (it left), complete, or the code of the error.',
      labelNames: ['reason'] as const,
      registers,
    });
    this.messages = new Counter({
      name: 'core_subscription_messages_total',
      help: 'Messages sent to subscribers, by field.',
      labelNames: ['field'] as const,
      registers,
    });
    this.#delays = new Histogram({
      name: 'core_subscription_delay_seconds',
      help: 'Time from the start of the transaction of a change until its message is handed to the connection.',
      buckets: [0.01, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 10, 60],
      registers,
    });
    const connections: Gauge = new Gauge({
      name: 'core_subscription_connections',
      help: 'Connections of this process that have subscriptions, or can have some.',
      registers,
      collect: () => connections.set(counts().connections),
    });
    const subscriptions: Gauge = new Gauge({
      name: 'core_subscriptions',
      help: 'GraphQL subscriptions of this process.',
      registers,
      collect: () => subscriptions.set(counts().subscriptions),
    });
  }

  /** @param changedAt in microseconds since the epoch */
  delivered(changedAt: string): void {
    this.#delays.observe(Math.max(0, Date.now() - Number(changedAt) / 1_000) / 1_000);
  }
}

import { Gauge } from 'prom-client';
import type { Logger } from 'pino';
import { newId } from '#entities/kit/base/ids.ts';
import { systemCaller } from '#entities/kit/model/caller.ts';
import { workKinds } from '#entities/kit/outbox/failing-work.ts';
import { readBacklog, type Backlog } from '#entities/kit/outbox/backlog.ts';
import type { Database } from '#entities/kit/unit/database.ts';
import type { MetricsRegistry } from './process-metrics.ts';

/** How long a figure is reported again before it is read anew, in milliseconds: scrapes may come from several servers. */
const freshMs = 5_000;

/** Longest time that a scrape waits for the database, in milliseconds. */
const timeoutMs = 2_000;

/**
 * Reports what waits in the database: events, deliveries, tuples, messages, and what fails. It is the same in every process of an installation, so that
 * it is known while any of them runs: take the maximum, not the sum.
 */
export function watchBacklog(database: Database, registry: MetricsRegistry, logger: Logger): void {
  const readings = new BacklogReadings(database, logger, () => gauges);
  const gauges = gaugesOf(registry, () => readings.update());
}

/** Readings of the backlog. All gauges of a scrape ask at the same time; the database is asked once. */
class BacklogReadings {
  readonly #database: Database;
  readonly #logger: Logger;
  readonly #gauges: () => Gauges;
  #reading: Promise<void> = Promise.resolve();
  #readAt = -Infinity;

  constructor(database: Database, logger: Logger, gauges: () => Gauges) {
    this.#database = database;
    this.#logger = logger;
    this.#gauges = gauges;
  }

  update(): Promise<void> {
    if (performance.now() - this.#readAt >= freshMs) {
      this.#readAt = performance.now();
      this.#reading = this.#read();
    }
    return this.#reading;
  }

  async #read(): Promise<void> {
    const context = {
      caller: systemCaller('count backlog'),
      requestId: `backlog-${newId()}`,
      readOnly: true,
      deadline: Date.now() + timeoutMs,
    };
    try {
      const backlog = await this.#database.transact(context, readBacklog);
      this.#show(backlog, this.#database.options.clock.now());
    } catch (error) {
      // The next scrape asks again. Old figures would look like current ones.
      this.#readAt = -Infinity;
      const { known, events, deliveries, failing, ...single } = this.#gauges();
      known.set(0);
      for (const gauge of [events, deliveries, failing]) gauge.reset();
      // Their reset would report 0.
      for (const gauge of Object.values(single)) gauge.remove();
      this.#logger.warn({ err: error }, 'the backlog could not be read for a scrape');
    }
  }

  #show(backlog: Backlog, now: Date): void {
    const { known, events, lag, deliveries, heldListeners, tuples, messages, withheldMessages, failing } =
      this.#gauges();
    known.set(1);
    events.set({ status: 'waiting' }, backlog.waitingEvents);
    events.set({ status: 'claimed' }, backlog.claimedEvents);
    const oldest = backlog.oldestEventAt?.getTime() ?? now.getTime();
    lag.set(Math.max(0, now.getTime() - oldest) / 1_000);
    deliveries.reset();
    for (const { listener, status, count } of backlog.deliveries) deliveries.set({ listener, status }, count);
    heldListeners.set(backlog.heldListeners.length);
    tuples.set(backlog.tuples);
    messages.set(backlog.messages);
    withheldMessages.set(backlog.withheldMessages);
    for (const kind of workKinds) failing.set({ kind }, 0);
    for (const { kind, count } of backlog.failing) failing.set({ kind }, count);
  }
}

type Gauges = ReturnType<typeof gaugesOf>;

function gaugesOf(registry: MetricsRegistry, collect: () => Promise<void>) {
  const registers = [registry];
  return {
    known: new Gauge({
      name: 'core_backlog_known',
      help: '1 when the figures of the backlog could be read from the database, else 0; they are then missing.',
      registers,
      collect,
    }),
    events: new Gauge({
      name: 'core_outbox_events',
      help: 'Events that are not delivered, by status: waiting for a batch, or claimed by one. Counted up to 10,000.',
      labelNames: ['status'] as const,
      registers,
      collect,
    }),
    lag: new Gauge({
      name: 'core_outbox_lag_seconds',
      help: 'Age of the oldest event that is not delivered; 0 when there is none.',
      registers,
      collect,
    }),
    deliveries: new Gauge({
      name: 'core_deliveries_open',
      help: 'Deliveries that are failing or held, by listener and status. Counted up to 10,000 together.',
      labelNames: ['listener', 'status'] as const,
      registers,
      collect,
    }),
    heldListeners: new Gauge({
      name: 'core_listeners_held',
      help: 'Listeners that are held as a whole because they fail on everything.',
      registers,
      collect,
    }),
    tuples: new Gauge({
      name: 'core_tuples_waiting',
      help: 'Permission tuples that OpenFGA does not have yet. Counted up to 10,000.',
      registers,
      collect,
    }),
    messages: new Gauge({
      name: 'core_webhook_messages_due',
      help: 'Messages to endpoints of customers whose time has come. Counted up to 10,000.',
      registers,
      collect,
    }),
    withheldMessages: new Gauge({
      name: 'core_webhook_messages_withheld',
      help: 'Messages that were withheld from endpoints of customers in the last 24 hours. Counted up to 10,000.',
      registers,
      collect,
    }),
    failing: new Gauge({
      name: 'core_work_failing',
      help: 'Work that has failed, keeps failing from the fifth attempt on, or waits for such work, by kind. Counted up to 10,000 of each source.',
      labelNames: ['kind'] as const,
      registers,
      collect,
    }),
  };
}

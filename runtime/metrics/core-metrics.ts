import { Counter, Gauge, Histogram } from 'prom-client';
import type { CachePool } from '#activities/clients/cache/cache-pool.ts';
import type { CacheQuestion } from '#activities/clients/cache/guarded-cache.ts';
import type { StoreCall } from '#activities/clients/fga/authorization-store.ts';
import type { EndedUnit } from '#entities/kit/access/database-options.ts';
import type { DecidedBy } from '#entities/kit/access/authorizer.ts';
import { traceIdOf } from '#entities/kit/base/trace.ts';
import type { DeliveryReport } from '#entities/kit/outbox/delivery-report.ts';
import type { Database } from '#entities/kit/unit/database.ts';
import type { SweepReport } from '#workflows/kit/sweep-contract.ts';
import type { MetricsRegistry } from './process-metrics.ts';

/** Upper bounds of durations, in seconds. */
const buckets = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 10];

/** Upper bounds of the time until a delivery, in seconds. */
const lagBuckets = [0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 15, 60, 300, 3_600];

/** Labels of an exemplar: the trace, which log lines name as well. */
function exemplar(traceparent: string | null | undefined): { exemplarLabels?: { trace_id: string } } {
  const traceId = traceIdOf(traceparent);
  return traceId === undefined ? {} : { exemplarLabels: { trace_id: traceId } };
}

/** Metrics of API and worker: database, units of work, authorization store, cache, relay and deliveries. */
export class CoreMetrics {
  readonly #registry: MetricsRegistry;
  readonly #statements: Histogram<'database'>;
  readonly #units: Histogram<'mode' | 'outcome' | 'trace_id'>;
  readonly #decisions: Counter<'by'>;
  readonly #storeCalls: Histogram<'operation' | 'outcome'>;
  readonly #cacheQuestions: Histogram<'about' | 'outcome'>;
  readonly #batches: Counter<'outcome'>;
  readonly #relayedEvents: Counter;
  readonly #deliveries: Counter<'listener' | 'outcome'>;
  readonly #deliveryLag: Histogram<'trace_id'>;
  readonly #sweptRecords: Counter<'sweep' | 'outcome'>;
  readonly #billingDifferences: Counter;

  constructor(registry: MetricsRegistry) {
    this.#registry = registry;
    const registers = [registry];
    this.#statements = new Histogram({
      name: 'core_database_statement_duration_seconds',
      help: 'Time of one SQL statement from sending it to its last row, by name of the database (db.databasename).',
      labelNames: ['database'],
      buckets: [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.05, 0.25, 1],
      registers,
    });
    this.#units = new Histogram({
      name: 'core_unit_of_work_duration_seconds',
      help: 'Time of one unit of work, by mode (read, write) and outcome (committed, rolled_back).',
      labelNames: ['mode', 'outcome'],
      buckets,
      registers,
      enableExemplars: true,
    });
    this.#decisions = new Counter({
      name: 'core_authorization_decisions_total',
      help: 'Decisions about changes of single records, by what decided: rules, rows, cache or store.',
      labelNames: ['by'],
      registers,
    });
    this.#storeCalls = new Histogram({
      name: 'core_authorization_store_duration_seconds',
      help: 'Time of one call of OpenFGA by operation and outcome; skipped: it did not answer a moment ago and was not asked.',
      labelNames: ['operation', 'outcome'],
      buckets,
      registers,
    });
    this.#cacheQuestions = new Histogram({
      name: 'core_cache_duration_seconds',
      help: 'Time of one question to the cache by what it is about and outcome; skipped: the cache was not asked.',
      labelNames: ['about', 'outcome'],
      buckets,
      registers,
    });
    this.#batches = new Counter({
      name: 'core_relay_batches_total',
      help: 'Batches of events that the relay of this process gave to Temporal (started), or could not (failed).',
      labelNames: ['outcome'],
      registers,
    });
    this.#relayedEvents = new Counter({
      name: 'core_relay_events_total',
      help: 'Events of the batches that were started.',
      registers,
    });
    this.#deliveries = new Counter({
      name: 'core_deliveries_total',
      help: 'Deliveries of events by listener and outcome: done, failed (an attempt, which is repeated), given_up (it is retried by a workflow of its own).',
      labelNames: ['listener', 'outcome'],
      registers,
    });
    this.#deliveryLag = new Histogram({
      name: 'core_delivery_lag_seconds',
      help: 'Time from an event to its delivery.',
      buckets: lagBuckets,
      registers,
      enableExemplars: true,
    });
    this.#sweptRecords = new Counter({
      name: 'core_swept_records_total',
      help: 'Records that sweeps have examined, by sweep and outcome: done, skipped, failed.',
      labelNames: ['sweep', 'outcome'],
      registers,
    });
    this.#billingDifferences = new Counter({
      name: 'core_billing_differences_total',
      help: 'Differences between rows and the payment provider that the comparison of a day has found and repaired.',
      registers,
    });
  }

  statement(database: string, durationMs: number): void {
    this.#statements.observe({ database }, durationMs / 1_000);
  }

  unitEnded({ isCommitted, isReadOnly, durationMs, traceparent }: EndedUnit): void {
    const labels = { mode: isReadOnly ? 'read' : 'write', outcome: isCommitted ? 'committed' : 'rolled_back' };
    this.#units.observe({ labels, value: durationMs / 1_000, ...exemplar(traceparent) });
  }

  decided(by: DecidedBy): void {
    this.#decisions.inc({ by });
  }

  storeCalled({ operation, outcome, durationMs }: StoreCall): void {
    this.#storeCalls.observe({ operation, outcome }, durationMs / 1_000);
  }

  cacheAsked({ about, outcome, durationMs }: CacheQuestion): void {
    this.#cacheQuestions.observe({ about, outcome }, durationMs / 1_000);
  }

  /** From now on this process relays: where the metric is missing everywhere, no worker runs. */
  relaying(): void {
    for (const outcome of ['started', 'failed']) this.#batches.inc({ outcome }, 0);
  }

  batch(outcome: 'started' | 'failed', events: number): void {
    this.#batches.inc({ outcome });
    if (outcome === 'started') this.#relayedEvents.inc(events);
  }

  /** @param at now */
  delivered({ listener, outcome, occurredAt, traceparent }: DeliveryReport, at: Date): void {
    this.#deliveries.inc({ listener, outcome: outcome === 'given up' ? 'given_up' : outcome });
    if (outcome !== 'done') return;
    const value = Math.max(0, at.getTime() - occurredAt.getTime()) / 1_000;
    this.#deliveryLag.observe({ value, ...exemplar(traceparent) });
  }

  swept(sweep: string, { done, failed, examined }: SweepReport): void {
    for (const [outcome, count] of Object.entries({ done, failed, skipped: examined - done - failed }))
      this.#sweptRecords.inc({ sweep, outcome }, count);
  }

  billingRepaired(differences: number): void {
    this.#billingDifferences.inc(differences);
  }

  /** Reports the connections to PostgreSQL and the units of work of this process. */
  watchDatabase(database: Pick<Database, 'pool' | 'connections' | 'activeUnits' | 'options'>): void {
    const registers = [this.#registry];
    const connections: Gauge<'status'> = new Gauge({
      name: 'core_database_connections',
      help: 'Connections to PostgreSQL: in_use, idle, waited_for (requests that wait for one), max (db.maxconnections).',
      labelNames: ['status'],
      registers,
      collect: () => {
        const { totalCount, idleCount, waitingCount } = database.pool;
        connections.set({ status: 'in_use' }, totalCount - idleCount);
        connections.set({ status: 'idle' }, idleCount);
        connections.set({ status: 'waited_for' }, database.connections.waiting + waitingCount);
        connections.set({ status: 'max' }, database.options.maxConnections);
      },
    });
    const units: Gauge = new Gauge({
      name: 'core_units_of_work_active',
      help: 'Units of work that hold a database connection or wait for one.',
      registers,
      collect: () => units.set(database.activeUnits),
    });
  }

  /** Reports the connections to the cache, if there is one. */
  watchCache(cache: Pick<CachePool, 'connections'> | undefined): void {
    const gauge: Gauge<'status'> = new Gauge({
      name: 'core_cache_connections',
      help: 'Connections to the cache: open, and those of them that are ready.',
      labelNames: ['status'],
      registers: [this.#registry],
      collect: () => {
        if (!cache) return;
        const { open, ready } = cache.connections;
        gauge.set({ status: 'open' }, open);
        gauge.set({ status: 'ready' }, ready);
      },
    });
  }
}

import type { Server } from 'node:http';
import { collectDefaultMetrics, Counter, Gauge, Histogram, Registry } from 'prom-client';
import { serveMetrics } from '#runtime/metrics-server.ts';

/** Memory, processor time and garbage collections. Once for each process: what collects them cannot be stopped. */
const processMetrics = new Registry();
collectDefaultMetrics({ register: processMetrics });

/** Prometheus metrics of the API process; served on `server.metricsport`, never on the API's own port. */
export class Metrics {
  readonly registry = Registry.merge([processMetrics]);
  readonly requests = new Counter({
    name: 'core_http_requests_total',
    help: 'Number of requests by method, route pattern and status.',
    labelNames: ['method', 'route', 'status'] as const,
    registers: [this.registry],
  });
  readonly durations = new Histogram({
    name: 'core_http_request_duration_seconds',
    help: 'Time from the first byte of a request to the last byte of the response.',
    labelNames: ['method', 'route'] as const,
    buckets: [0.002, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 10],
    registers: [this.registry],
  });
  readonly statements = new Histogram({
    name: 'core_database_statement_duration_seconds',
    help: 'Time of one SQL statement from sending it to its last row, by name of the database (db.databasename).',
    labelNames: ['database'] as const,
    buckets: [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.05, 0.25, 1],
    registers: [this.registry],
  });
  readonly conflicts = new Counter({
    name: 'core_unit_of_work_conflicts_total',
    help: 'Units of work that PostgreSQL ended because of a deadlock or a serialization failure, by what followed: another attempt (repeated) or an error (refused).',
    labelNames: ['outcome'] as const,
    registers: [this.registry],
  });
  readonly emailValidations = new Counter({
    name: 'core_email_validations_total',
    help: 'Number of checked e-mail addresses by outcome: valid, unknown (nothing speaks against it), or why it was refused.',
    labelNames: ['outcome'] as const,
    registers: [this.registry],
  });
  readonly rateLimited = new Counter({
    name: 'core_rate_limited_requests_total',
    help: 'Number of requests above a rate limit by limiter (ratelimit or ratelimitunmatched) and what followed: an error (refused) or nothing (dry_run).',
    labelNames: ['limiter', 'outcome'] as const,
    registers: [this.registry],
  });

  /** Reports how many counters of rate limits are in memory, and how often the cache did not count. */
  watchRateCounters(counters: { readonly held: number; readonly fallbacks: number }): void {
    const gauge: Gauge = new Gauge({
      name: 'core_rate_limit_counters',
      help: 'Counters of rate limits in the memory of this process.',
      registers: [this.registry],
      collect: () => gauge.set(counters.held),
    });
    const fallbacks: Counter = new Counter({
      name: 'core_rate_limit_fallbacks_total',
      help: 'Requests that this process counted by itself for rate limits because the cache did not answer.',
      registers: [this.registry],
      collect: () => {
        fallbacks.reset();
        fallbacks.inc(counters.fallbacks);
      },
    });
  }

  /** Reports how many units of work are active. */
  watchUnits(count: () => number): void {
    const gauge: Gauge = new Gauge({
      name: 'core_units_of_work_active',
      help: 'Units of work that hold a database connection or wait for one.',
      registers: [this.registry],
      collect: () => gauge.set(count()),
    });
  }

  /** Reports the GraphQL operations that run, and those that wait for their turn. */
  watchOperations(queue: { readonly running: number; readonly waiting: number }): void {
    const gauge: Gauge<'state'> = new Gauge({
      name: 'core_graphql_operations',
      help: 'GraphQL operations by state: running, or waiting for their turn (server.graphpool.maxworkers).',
      labelNames: ['state'] as const,
      registers: [this.registry],
      collect: () => {
        gauge.set({ state: 'running' }, queue.running);
        gauge.set({ state: 'waiting' }, queue.waiting);
      },
    });
  }

  /** Starts the listener; resolves when it listens. @throws when the port is taken */
  listen(host: string, port: number): Promise<Server> {
    return serveMetrics(this.registry, { host, port });
  }
}

import type { Server } from 'node:http';
import { Counter, Gauge, Histogram } from 'prom-client';
import { newRegistry } from '#runtime/metrics/process-metrics.ts';
import { serveMetrics } from '#runtime/metrics-server.ts';
import type { CertificateState } from './tls/certificate-source.ts';

/** A GraphQL operation that has ended. */
export interface EndedOperation {
  readonly type: string;
  /** Name of its root field, or `several`: a bounded set, whatever callers send. */
  readonly operation: string;
  readonly outcome: 'ok' | 'refused' | 'failed';
  readonly durationMs: number;
  readonly traceId: string | undefined;
}

/** OpenMetrics of the API process; served on `server.metricsport`, never on the API's own port. */
export class Metrics {
  readonly registry = newRegistry();
  readonly requests = new Counter({
    name: 'core_http_requests_total',
    help: 'Number of requests by method, route pattern and status.',
    labelNames: ['method', 'route', 'status'] as const,
    registers: [this.registry],
  });
  readonly #durations = new Histogram<'method' | 'route' | 'trace_id'>({
    name: 'core_http_request_duration_seconds',
    help: 'Time from the first byte of a request to the last byte of the response.',
    labelNames: ['method', 'route'] as const,
    buckets: [0.002, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 10],
    registers: [this.registry],
    enableExemplars: true,
  });
  readonly #operations = new Counter({
    name: 'core_graphql_operations_executed_total',
    help: 'Executed GraphQL operations by type, root field (several: more than one) and outcome: ok, refused (an error of the caller), failed.',
    labelNames: ['type', 'operation', 'outcome'] as const,
    registers: [this.registry],
  });
  readonly #operationDurations = new Histogram<'type' | 'operation' | 'trace_id'>({
    name: 'core_graphql_operation_duration_seconds',
    help: 'Time of a GraphQL operation, including its time in the queue, by type and root field.',
    labelNames: ['type', 'operation'] as const,
    buckets: [0.005, 0.025, 0.1, 0.5, 2.5, 10],
    registers: [this.registry],
    enableExemplars: true,
  });
  readonly graphqlRejections = new Counter({
    name: 'core_graphql_rejections_total',
    help: 'GraphQL requests that were refused before anything was executed, by error code.',
    labelNames: ['code'] as const,
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

  /** Reports the number of counters of rate limits in memory, and the number of requests for which the cache did not answer. */
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

  /** Reports until when the certificate of the server can be used, and how its renewal goes. */
  watchCertificate(state: () => CertificateState | undefined): void {
    const expiry: Gauge = new Gauge({
      name: 'core_tls_certificate_expiry_timestamp_seconds',
      help: 'When the certificate of the server expires, in seconds since 1970; 0 without TLS.',
      registers: [this.registry],
      collect: () => expiry.set((state()?.expiresAt.getTime() ?? 0) / 1_000),
    });
    const failures: Gauge = new Gauge({
      name: 'core_tls_certificate_failed_renewals',
      help: 'Attempts to renew the certificate that failed one after the other.',
      registers: [this.registry],
      collect: () => failures.set(state()?.failedRenewals ?? 0),
    });
  }

  /** Counts an answered request. */
  answered(labels: { readonly method: string; readonly route: string }, status: number, answer: Answer): void {
    this.requests.inc({ ...labels, status });
    if (answer.durationMs === undefined) return;
    this.#durations.observe({ labels, value: answer.durationMs / 1_000, ...exemplar(answer.traceId) });
  }

  operationEnded({ type, operation, outcome, durationMs, traceId }: EndedOperation): void {
    this.#operations.inc({ type, operation, outcome });
    this.#operationDurations.observe({ labels: { type, operation }, value: durationMs / 1_000, ...exemplar(traceId) });
  }

  /** Reports how many requests are being answered. */
  watchRequests(count: () => number): void {
    const gauge: Gauge = new Gauge({
      name: 'core_http_requests_in_flight',
      help: 'Requests that are being answered.',
      registers: [this.registry],
      collect: () => gauge.set(count()),
    });
  }

  /** Reports the GraphQL operations that run, and those that wait for their turn. */
  watchOperations(queue: { readonly running: number; readonly waiting: number }): void {
    const gauge: Gauge<'status'> = new Gauge({
      name: 'core_graphql_operations',
      help: 'GraphQL operations by status: running, or queued (server.graphpool.maxworkers).',
      labelNames: ['status'] as const,
      registers: [this.registry],
      collect: () => {
        gauge.set({ status: 'running' }, queue.running);
        gauge.set({ status: 'waiting' }, queue.waiting);
      },
    });
  }

  /** Starts the listener; resolves when it listens. @throws when the port is taken */
  listen(host: string, port: number): Promise<Server> {
    return serveMetrics(this.registry, { host, port });
  }
}

interface Answer {
  /** Undefined for a stream without an end. */
  readonly durationMs: number | undefined;
  readonly traceId: string | undefined;
}

/** The trace of one measured value, which leads from a dashboard to the log lines. */
function exemplar(traceId: string | undefined): { exemplarLabels?: { trace_id: string } } {
  return traceId === undefined ? {} : { exemplarLabels: { trace_id: traceId } };
}

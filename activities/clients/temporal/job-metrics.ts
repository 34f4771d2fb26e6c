import { Counter, Histogram, type OpenMetricsContentType, type Registry } from 'prom-client';
import type { JobMiddleware } from './job.ts';

interface JobMetricsOptions {
  readonly registry: Registry<OpenMetricsContentType>;
  /** `jobqueue.metrics.metricsdurationunit`: unit of every duration whose name is not fixed by a convention. */
  readonly unit: 'ms' | 's';
}

const secondsBuckets = [0.002, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 10, 60];

/** Counts and measures starts of workflows and attempts of activities, in Prometheus form. */
export class JobMetrics {
  readonly #options: JobMetricsOptions;
  #jobs: { readonly count: Counter; readonly duration: Histogram } | undefined;
  #semantic: JobMiddleware | undefined;

  constructor(options: JobMetricsOptions) {
    this.#options = options;
  }

  /** The interceptor `metrics` of `jobqueue.queueconf`. @param layer the list it was named in */
  measure(layer: string): JobMiddleware {
    const { count, duration } = this.#jobMetrics();
    return (job, work) =>
      this.#timed(work, (seconds, outcome) => {
        count.inc({ layer, type: job.type, name: job.name, outcome });
        duration.observe({ layer, type: job.type, name: job.name }, this.#inUnit(seconds));
      });
  }

  /** `jobqueue.metrics.enablesemanticmetrics`: named by the OpenTelemetry messaging conventions, durations in seconds. */
  get semantic(): JobMiddleware {
    this.#semantic ??= this.#semanticMetrics();
    return this.#semantic;
  }

  #semanticMetrics(): JobMiddleware {
    const { registry } = this.#options;
    const labels = ['messaging_system', 'messaging_operation_name', 'messaging_destination_name', 'error_type'];
    const sent = new Counter({
      name: 'messaging_client_sent_messages_total',
      help: 'Workflows started (messaging.client.sent.messages).',
      labelNames: labels,
      registers: [registry],
    });
    const operation = new Histogram({
      name: 'messaging_client_operation_duration',
      help: 'Time to start a workflow (messaging.client.operation.duration), in seconds.',
      labelNames: labels,
      buckets: secondsBuckets,
      registers: [registry],
    });
    const processing = new Histogram({
      name: 'messaging_process_duration',
      help: 'Time of an attempt of an activity (messaging.process.duration), in seconds.',
      labelNames: labels,
      buckets: secondsBuckets,
      registers: [registry],
    });
    return (job, work) =>
      this.#timed(work, (seconds, outcome) => {
        const of = {
          messaging_system: 'temporal',
          messaging_operation_name: job.name,
          messaging_destination_name: job.queue,
          ...(outcome === 'failed' ? { error_type: '_OTHER' } : {}),
        };
        if (job.type === 'activity') {
          processing.observe(of, seconds);
          return;
        }
        sent.inc(of);
        operation.observe(of, seconds);
      });
  }

  #jobMetrics() {
    const { registry, unit } = this.#options;
    this.#jobs ??= {
      count: new Counter({
        name: 'core_jobs_total',
        help: 'Starts of workflows and attempts of activities, by interceptor list, type, name and outcome.',
        labelNames: ['layer', 'type', 'name', 'outcome'],
        registers: [registry],
      }),
      duration: new Histogram({
        name: `core_job_duration_${unit === 's' ? 'seconds' : 'milliseconds'}`,
        help: 'Time of one start or attempt.',
        labelNames: ['layer', 'type', 'name'],
        buckets: secondsBuckets.map((seconds) => this.#inUnit(seconds)),
        registers: [registry],
      }),
    };
    return this.#jobs;
  }

  async #timed<T>(work: () => Promise<T>, report: (seconds: number, outcome: 'done' | 'failed') => void): Promise<T> {
    const startedAt = performance.now();
    let outcome: 'done' | 'failed' = 'failed';
    try {
      const result = await work();
      outcome = 'done';
      return result;
    } finally {
      report((performance.now() - startedAt) / 1_000, outcome);
    }
  }

  #inUnit(seconds: number): number {
    return this.#options.unit === 's' ? seconds : seconds * 1_000;
  }
}

import { MetricsBuffer } from '@temporalio/worker';
import { Counter, Gauge, Histogram, type OpenMetricsContentType, type Registry } from 'prom-client';

/** Labels that the worker library uses; a Prometheus metric has a fixed set of labels. */
const labelNames = [
  'namespace',
  'task_queue',
  'workflow_type',
  'activity_type',
  'operation',
  'poller_type',
  'worker_type',
  'failure_reason',
  'status_code',
] as const;

const msBuckets = [1, 2, 5, 10, 25, 50, 100, 250, 500, 1_000, 2_500, 10_000, 60_000];

/** Adds the metrics of Temporal's worker library (`temporal_…`) to our registry, so that one address serves all. */
export class SdkMetrics {
  /** To be given to the library's runtime. */
  readonly buffer: MetricsBuffer;
  readonly #registry: Registry<OpenMetricsContentType>;
  readonly #unit: 'ms' | 's';
  readonly #metrics = new Map<string, Counter | Gauge | Histogram>();
  readonly #drain: NodeJS.Timeout;

  /** @param unit of exported durations (`jobqueue.metrics.metricsdurationunit`) */
  constructor(registry: Registry<OpenMetricsContentType>, unit: 'ms' | 's') {
    this.#registry = registry;
    this.#unit = unit;
    this.buffer = new MetricsBuffer({ useSecondsForDurations: unit === 's' });
    // The buffer holds ten thousand updates and drops further ones.
    this.#drain = setInterval(() => this.update(), 1_000);
    this.#drain.unref();
  }

  /** Adds what the library has measured since the last call. */
  update(): void {
    for (const { metric, value, attributes } of this.buffer.retrieveUpdates()) {
      const isDuration = metric.kind === 'histogram' && (metric.unit === 'ms' || metric.unit === 's');
      const name = metric.name + this.#suffixOf(metric.kind, isDuration);
      const options = { name, help: metric.description || metric.name, labelNames, registers: [this.#registry] };
      const labels = Object.fromEntries(
        labelNames
          .filter((label) => attributes[label] !== undefined)
          .map((label) => [label, String(attributes[label])]),
      );
      if (metric.kind === 'counter') this.#held(name, () => new Counter(options)).inc(labels, value);
      else if (metric.kind === 'gauge') this.#held(name, () => new Gauge(options)).set(labels, value);
      else if (metric.kind === 'histogram') {
        const buckets = this.#unit === 's' ? msBuckets.map((ms) => ms / 1_000) : msBuckets;
        this.#held(name, () => new Histogram({ ...options, buckets })).observe(labels, value);
      }
    }
  }

  close(): void {
    clearInterval(this.#drain);
  }

  /** OpenMetrics: counters end in `_total`, and durations name their unit. */
  #suffixOf(kind: string, isDuration: boolean): string {
    if (kind === 'counter') return '_total';
    if (!isDuration) return '';
    return this.#unit === 's' ? '_seconds' : '_milliseconds';
  }

  #held<M extends Counter | Gauge | Histogram>(name: string, make: () => M): M {
    const held = this.#metrics.get(name) ?? make();
    this.#metrics.set(name, held);
    return held as M;
  }
}

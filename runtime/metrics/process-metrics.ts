import { collectDefaultMetrics, Registry, type OpenMetricsContentType } from 'prom-client';

/** Metrics of one process: OpenMetrics, because only that has exemplars (`metrics-server.ts` answers in both formats). */
export type MetricsRegistry = Registry<OpenMetricsContentType>;

function emptyRegistry(): MetricsRegistry {
  const registry: MetricsRegistry = new Registry();
  registry.setContentType(Registry.OPENMETRICS_CONTENT_TYPE);
  return registry;
}

/** Memory, processor time and garbage collections. Once for each process: what collects them cannot be stopped. */
const processMetrics = emptyRegistry();
// Its type knows one format only.
collectDefaultMetrics({ register: processMetrics as unknown as Registry });

/** A registry that has the metrics of the process already. */
export function newRegistry(): MetricsRegistry {
  const registry = emptyRegistry();
  // Typed as descriptions of metrics; they are metrics.
  for (const metric of processMetrics.getMetricsAsArray()) registry.registerMetric(metric as never);
  return registry;
}

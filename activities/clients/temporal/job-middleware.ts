import type { Logger } from 'pino';
import type { Job, JobMiddleware } from './job.ts';
import type { JobMetrics } from './job-metrics.ts';

/** The lists of `jobqueue.queueconf` that name interceptors. */
interface JobMiddlewareLists {
  readonly Plugins: readonly string[];
  readonly Middleware: readonly string[];
  readonly JobInsertMiddleware: readonly string[];
  readonly WorkerMiddleware: readonly string[];
  readonly Hooks: readonly string[];
}

/** The part of `jobqueue` that names middleware. */
interface JobqueueSettings {
  readonly queueconf: JobMiddlewareLists;
  readonly metrics: { readonly enablemetrics: boolean; readonly enablesemanticmetrics: boolean };
}

/** The lists that apply to each type of job, the outermost first. */
const layers = {
  start: ['Plugins', 'Middleware', 'JobInsertMiddleware'],
  activity: ['Plugins', 'Middleware', 'WorkerMiddleware', 'Hooks'],
} as const satisfies Record<Job['type'], readonly (keyof JobMiddlewareLists)[]>;

/** Implementations of the configured names. */
interface JobInterceptors {
  readonly logger: Logger;
  readonly metrics: JobMetrics;
}

/** All middleware that is configured for a type of job, combined; undefined when there is none. */
export function configuredMiddleware(
  type: Job['type'],
  { queueconf, metrics: wanted }: JobqueueSettings,
  { logger, metrics }: JobInterceptors,
): JobMiddleware | undefined {
  const exported = wanted.enablemetrics
    ? [
        ...(type === 'start' ? [metrics.measure('client')] : []),
        ...(wanted.enablesemanticmetrics ? [metrics.semantic] : []),
      ]
    : [];
  const named = layers[type].flatMap((layer) =>
    queueconf[layer].map((name) => (name === 'metrics' ? metrics.measure(layer) : logging(logger, layer))),
  );
  const chain = [...exported, ...named];
  if (chain.length === 0) return undefined;
  return (job, work) => chain.reduceRight<typeof work>((inner, around) => () => around(job, inner), work)();
}

function logging(logger: Logger, layer: string): JobMiddleware {
  return async (job, work) => {
    const fields = { layer, job: job.name, queue: job.queue, workflow_id: job.workflowId, attempt: job.attempt };
    logger.info(fields, `${job.type} begins`);
    const startedAt = performance.now();
    const took = () => ({ duration_ms: Math.round((performance.now() - startedAt) * 10) / 10 });
    try {
      const result = await work();
      logger.info({ ...fields, ...took(), outcome: 'done' }, `${job.type} ended`);
      return result;
    } catch (error) {
      logger.info({ ...fields, ...took(), outcome: 'failed' }, `${job.type} ended`);
      throw error;
    }
  };
}

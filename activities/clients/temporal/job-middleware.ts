import type { Logger } from 'pino';
import type { JobMetrics } from './job-metrics.ts';

/** A start of a workflow, or one attempt of an activity. */
export interface Job {
  readonly kind: 'start' | 'activity';
  /** Type of the workflow or activity. */
  readonly name: string;
  /** Full name of the task queue. */
  readonly queue: string;
  readonly workflowId: string;
  readonly attempt?: number;
}

/** Runs around jobs and changes nothing about them. */
export type JobMiddleware = <T>(job: Job, work: () => Promise<T>) => Promise<T>;

/** The lists of `jobqueue.queueconf` that name interceptors. */
export interface JobMiddlewareLists {
  readonly Plugins: readonly string[];
  readonly Middleware: readonly string[];
  readonly JobInsertMiddleware: readonly string[];
  readonly WorkerMiddleware: readonly string[];
  readonly Hooks: readonly string[];
}

/** The part of `jobqueue` that says what stands around jobs. */
export interface JobqueueSettings {
  readonly queueconf: JobMiddlewareLists;
  readonly metrics: { readonly enablemetrics: boolean; readonly enablesemanticmetrics: boolean };
}

/** What stands around each kind of job, the outermost first. */
const layers = {
  start: ['Plugins', 'Middleware', 'JobInsertMiddleware'],
  activity: ['Plugins', 'Middleware', 'WorkerMiddleware', 'Hooks'],
} as const satisfies Record<Job['kind'], readonly (keyof JobMiddlewareLists)[]>;

/** What the names in the configuration stand for. */
export interface JobInterceptors {
  readonly logger: Logger;
  readonly metrics: JobMetrics;
}

/** All that is configured for one kind of job, as one; undefined when nothing is. */
export function configuredMiddleware(
  kind: Job['kind'],
  { queueconf, metrics: wanted }: JobqueueSettings,
  { logger, metrics }: JobInterceptors,
): JobMiddleware | undefined {
  const exported = wanted.enablemetrics
    ? [
        ...(kind === 'start' ? [metrics.measure('client')] : []),
        ...(wanted.enablesemanticmetrics ? [metrics.semantic] : []),
      ]
    : [];
  const named = layers[kind].flatMap((layer) =>
    queueconf[layer].map((name) => (name === 'metrics' ? metrics.measure(layer) : logging(logger, layer))),
  );
  const chain = [...exported, ...named];
  if (chain.length === 0) return undefined;
  return (job, work) => chain.reduceRight<typeof work>((inner, around) => () => around(job, inner), work)();
}

function logging(logger: Logger, layer: string): JobMiddleware {
  return async (job, work) => {
    const fields = { layer, job: job.name, queue: job.queue, workflow_id: job.workflowId, attempt: job.attempt };
    logger.info(fields, `${job.kind} begins`);
    const startedAt = performance.now();
    const took = () => ({ duration_ms: Math.round((performance.now() - startedAt) * 10) / 10 });
    try {
      const result = await work();
      logger.info({ ...fields, ...took(), outcome: 'done' }, `${job.kind} ended`);
      return result;
    } catch (error) {
      logger.info({ ...fields, ...took(), outcome: 'failed' }, `${job.kind} ended`);
      throw error;
    }
  };
}

import { NativeConnection, Worker, type NativeConnectionOptions, type WorkerOptions } from '@temporalio/worker';
import type { Logger } from 'pino';
import type { ConfigStore } from '#config/store.ts';
import { createEmailActivities } from '#activities/email/activities.ts';
import { createEventActivities } from '#activities/events/activities.ts';
import type { Listener } from '#activities/listeners/listener.ts';
import { createMaintenanceActivities } from '#activities/maintenance/activities.ts';
import { emailTheme, emailTransport, publicApiUrl } from '#activities/clients/email/from-config.ts';
import { encryptedDataConverter } from '#activities/clients/temporal.ts';
import { prepareNamespace } from '#activities/clients/temporal-admin.ts';
import { deriveKey } from '#entities/kit/keys.ts';
import type { Backbone } from '#relay/backbone.ts';
import { listenForEvents } from '#relay/wake-up.ts';
import { failureInterceptor } from './interceptors/failures.ts';
import { originInterceptor } from './interceptors/origin.ts';
import { activityQueues, workflowQueue } from './queues.ts';
import { convergeSchedules, wantedSchedules } from './schedules.ts';

export interface WorkerProcessOptions {
  readonly config: ConfigStore;
  readonly backbone: Backbone;
  readonly logger: Logger;
  readonly listeners: readonly Listener[];
  /** Path of the workflow bundle (worker/build-bundle.ts). */
  readonly bundlePath: string;
  /** Only these activity queues, and workflows only when named; default all. */
  readonly queues?: readonly string[];
}

export interface RunningWorker {
  /** Resolves when all workers have ended; rejects when one failed. */
  readonly ended: Promise<void>;
  /** Takes no more work, lets running activities finish within `SoftStopTimeout`, then ends. */
  stop(): Promise<void>;
}

/**
 * Starts the workers of one process: one for workflows (with event delivery as local activities) and an activity-only
 * worker per queue, all on one connection; converges the schedules; polls the outbox.
 * @throws AppError workflows_unavailable when Temporal cannot be reached
 */
export async function startWorker(options: WorkerProcessOptions): Promise<RunningWorker> {
  const { config, backbone, logger, queues } = options;
  const { temporal, relay } = backbone;
  const start = config.current;
  const { queueconf, runmigrations } = start.jobqueue;
  const retention = Math.max(
    queueconf.CompletedJobRetentionPeriod,
    queueconf.CancelledJobRetentionPeriod,
    queueconf.DiscardedJobRetentionPeriod,
  );
  if (runmigrations) await prepareNamespace(temporal, retention);

  const connection = await NativeConnection.connect({
    address: temporal.settings.address,
    ...temporal.settings.credentials,
  } as NativeConnectionOptions);
  const activities = createActivities(options, retention);
  const common = {
    connection,
    namespace: temporal.settings.namespace,
    dataConverter: encryptedDataConverter(temporal.settings.encryptionKey),
    interceptors: { activity: [() => failureInterceptor(), originInterceptor(logger)] },
    shutdownGraceTime: queueconf.SoftStopTimeout,
    ...(queueconf.ID ? { identity: queueconf.ID } : {}),
  } satisfies Partial<WorkerOptions>;
  const isWanted = (name: string) => !queues || queues.includes(name);
  const activity = activityQueues(start);
  const deliveries = activity.find((queue) => queue.name === start.workflows.dispatch.queuename);
  const workers = await Promise.all([
    ...(isWanted(workflowQueue)
      ? [
          Worker.create({
            ...common,
            taskQueue: temporal.taskQueue(workflowQueue),
            workflowBundle: { codePath: options.bundlePath },
            activities,
            enableNonLocalActivities: false,
            ...(deliveries ? { maxConcurrentLocalActivityExecutions: deliveries.concurrency } : {}),
          }),
        ]
      : []),
    ...activity
      .filter((queue) => isWanted(queue.name))
      .map((queue) =>
        Worker.create({
          ...common,
          taskQueue: temporal.taskQueue(queue.name),
          activities,
          maxConcurrentActivityTaskExecutions: queue.concurrency,
        }),
      ),
  ]);
  if (isWanted('maintenance'))
    await convergeSchedules(
      temporal,
      wantedSchedules(start, (name) => temporal.taskQueue(name)),
      logger,
    );

  const ended = runAll(workers);
  const polling = setInterval(() => relay.wake(), queueconf.FetchPollInterval);
  const stopListening = queueconf.PollOnly
    ? undefined
    : listenForEvents({
        url: start.db.primarydbsource,
        logger,
        onWake: () => setTimeout(() => relay.wake(), queueconf.FetchCooldown),
      });
  logger.info({ queues: workers.map((worker) => worker.options.taskQueue) }, 'worker ready');

  return {
    ended,
    stop: async () => {
      clearInterval(polling);
      await stopListening?.();
      for (const worker of workers) if (worker.getState() === 'RUNNING') worker.shutdown();
      await ended;
      await connection.close();
    },
  };
}

async function runAll(workers: readonly Worker[]): Promise<void> {
  await Promise.all(workers.map((worker) => worker.run()));
}

function createActivities({ config, backbone, logger, listeners }: WorkerProcessOptions, retentionMs: number) {
  const start = config.current;
  const { MaxAttempts, RetryPolicy } = start.jobqueue.queueconf;
  const { database, temporal, relay, tuples } = backbone;
  return {
    ...createEventActivities({
      database,
      temporal,
      logger,
      listeners,
      maxAttempts: () => config.current.workflows.dispatch.maxretries,
      queue: start.workflows.dispatch.queuename,
      retry: {
        maximumAttempts: MaxAttempts,
        initialIntervalMs: RetryPolicy.initialinterval,
        backoffCoefficient: RetryPolicy.backoffcoefficient,
        maximumIntervalMs: RetryPolicy.maximuminterval,
      },
    }),
    ...createEmailActivities({
      database,
      transport: emailTransport(start),
      theme: () => emailTheme(config.current),
      apiUrl: () => publicApiUrl(config.current),
      tokenKey: deriveKey(start.sessions.signingkey, 'one-time-token'),
    }),
    ...createMaintenanceActivities({
      database,
      relay,
      tuples: tuples ?? { apply: async () => 0 },
      keep: () => ({ eventsMs: retentionMs, historyMs: tenYearsMs }),
    }),
  };
}

/** History is an audit record: it is kept for ten years. */
const tenYearsMs = 10 * 365 * 86_400_000;

import { refuseMappings } from '#activities/integrations/ingest/refuse-mappings.ts';
import { integrationsQueue } from '#workflows/integrations/integrations-queue.ts';
import { NativeConnection, Worker, type NativeConnectionOptions, type WorkerOptions } from '@temporalio/worker';
import type { Logger } from 'pino';
import { declaredDueWork } from '#entities/declared-due-work.ts';
import { ConfigurationError } from '#config/schema/config-problem.ts';
import type { ConfigStore } from '#config/live/config-store.ts';
import type { ChatSettings } from '#activities/clients/chat/chat-target.ts';
import type { EmailProviderSettings } from '#activities/clients/email/from-config.ts';
import { configuredMiddleware } from '#activities/clients/temporal/job-middleware.ts';
import { encryptedDataConverter, TemporalGateway } from '#activities/clients/temporal/temporal-client.ts';
import { checkNamespace, prepareNamespace, workflowRetentionMs } from '#activities/clients/temporal/temporal-admin.ts';
import type { CoreRuntime } from '#runtime/core-runtime.ts';
import { Relay } from '#relay/outbox/relay.ts';
import { DueWorkRelay } from '#relay/due-work/due-work-relay.ts';
import { openLanesOf } from '#runtime/open-lanes.ts';
import { startRelaying } from '#runtime/relaying.ts';
import type { ActivityMap } from '#activities/kit/activity-dependencies.ts';
import { FailingWorkNotes } from '#activities/kit/failing-work-notes.ts';
import { createActivities } from './release-activities.ts';
import { releaseWorkflows } from './release-workflows.ts';
import { configuredErrorHandler } from './interceptors/error-handler.ts';
import { failingActivityInterceptor } from './interceptors/failing-activities.ts';
import { failureInterceptor } from './interceptors/failures.ts';
import { heartbeatInterceptor } from './interceptors/heartbeat.ts';
import { middlewareInterceptor } from './interceptors/middleware.ts';
import { originInterceptor } from './interceptors/origin.ts';
import { activityQueues, pollPauses, queuesWithoutWork, workflowQueue } from './queues.ts';
import { maintenanceQueue } from '#workflows/kit/maintenance-queue.ts';
import { keepBackfills } from './backfills.ts';
import { keepSchedules, wantedSchedules } from './schedules.ts';

interface WorkerProcessOptions {
  readonly config: ConfigStore;
  readonly runtime: CoreRuntime;
  readonly logger: Logger;
  readonly bundlePath: string;
  /** Only these activity queues, and workflows only when named; default all. */
  readonly queues?: readonly string[];
  /** Where the providers of e-mail are, for tests. */
  readonly emailProviders?: EmailProviderSettings;
  /** Where the operator's chat is, for tests. */
  readonly chat?: ChatSettings;
}

export interface RunningWorker {
  /** Resolves when all workers have ended; rejects when one failed without a request to stop. */
  readonly ended: Promise<void>;
  /** Takes no more work, lets running activities finish within `SoftStopTimeout`, then ends. */
  stop(): Promise<void>;
}

/** Time after `SoftStopTimeout` in which cancelled activities may end; what still runs then is left behind. */
const cancellationMs = 1_000;

/**
 * Starts the workers of one process: one for workflows (with event delivery as local activities) and an activity-only
 * worker per queue, all on one connection; converges the schedules; relays events (docs/decisions/relay-in-the-worker.md).
 * @throws AppError workflows_unavailable when Temporal cannot be reached
 * @throws ConfigurationError for queues and periodic jobs that this release does not have
 */
export async function startWorker(options: WorkerProcessOptions): Promise<RunningWorker> {
  const { config, runtime, logger, queues } = options;
  const { temporal, metrics } = runtime;
  const start = config.current;
  const { queueconf, runmigrations } = start.jobqueue;
  const activity = activityQueues(start);
  refuseUnknown(queues, [workflowQueue, ...activity.map((queue) => queue.name)]);
  const isWanted = (name: string) => !queues || queues.includes(name);
  for (const name of queuesWithoutWork(start))
    logger.warn({ queue: name }, 'jobqueue.queueconf.Queues names a queue for which this release has no work');
  const schedules = wantedSchedules(start, temporal);
  await temporal.reach();
  if (runmigrations) await prepareNamespace(temporal, workflowRetentionMs(start.jobqueue));
  else for (const line of await checkNamespace(temporal)) logger.error(line);

  const connection = await NativeConnection.connect({
    address: temporal.settings.address,
    ...temporal.settings.credentials,
  } as NativeConnectionOptions);
  try {
    const eager = new TemporalGateway(temporal.settings, connection);
    const relay = new Relay({
      database: runtime.database,
      temporal: eager,
      logger,
      isEnabled: () => config.current.workflows.dispatch.enabled,
      onBatch: (outcome, events) => metrics.batch(outcome, events),
    });
    const { database, store, endedSessions, tuples, listeners, storage, storageMetrics, fileReceiver, textRecords } =
      runtime;
    const dueWorkRelay = new DueWorkRelay({
      database,
      temporal: eager,
      logger,
      dueWork: declaredDueWork,
      contracts: releaseWorkflows.map(({ contract }) => contract),
      isEnabled: () => config.current.workflows.dispatch.enabled,
      openLanes: (work) => openLanesOf(work, runtime),
    });
    const activities = createActivities({
      config,
      database,
      temporal: eager,
      store,
      endedSessions,
      storage,
      storageMetrics,
      fileReceiver,
      emailProviders: options.emailProviders ?? {},
      chat: options.chat ?? {},
      contextOfCallers: runtime.contextOfCallers,
      expressions: runtime.expressions,
      payment: runtime.payment,
      integrations: runtime.integrations,
      textRecords,
      logger,
      listeners,
      onDelivery: (report) => metrics.delivered(report, database.options.clock.now()),
      onSwept: (sweep, report) => metrics.swept(sweep, report),
      onBillingRepaired: (differences) => metrics.billingRepaired(differences),
      applyTuples: async () => tuples?.apply() ?? 0,
      wakeRelays: () => runtime.wakeRelays(),
      sweepEvents: (before) => relay.sweep(before),
    });
    if (isWanted(integrationsQueue)) await refuseMappings(runtime.expressions);
    const workers = await createWorkers(options, connection, activities);
    const endSchedules = isWanted(maintenanceQueue)
      ? await keepSchedules(config, schedules, { temporal, logger })
      : undefined;
    const endBackfills = isWanted(maintenanceQueue) ? await keepBackfills(config, { temporal, logger }) : undefined;
    const deliveryQueue = start.workflows.dispatch.queuename;
    let isStopping = false;
    const ended = runAll(workers).catch((error: unknown) => {
      // The library throws different errors for work that outlasts the stop.
      if (!isStopping) throw error;
      logger.warn(
        { err: error },
        'some activities did not stop in time and are left behind; another worker takes them over',
      );
    });
    const relays = isWanted(workflowQueue) || isWanted(deliveryQueue);
    if (relays) metrics.relaying();
    const stopRelaying = relays
      ? startRelaying({
          config,
          runtime,
          relay,
          dueWork: dueWorkRelay,
          logger,
          pauses: () => pollPauses(config.current),
        })
      : undefined;
    logger.info({ queues: workers.map((worker) => worker.options.taskQueue) }, 'worker ready');
    return {
      ended,
      stop: async () => {
        isStopping = true;
        endBackfills?.();
        await endSchedules?.();
        await stopRelaying?.();
        await relay.stop();
        await dueWorkRelay.stop();
        for (const worker of workers) if (worker.getState() === 'RUNNING') worker.shutdown();
        await ended;
        await connection.close().catch(() => {});
      },
    };
  } catch (error) {
    await connection.close().catch(() => {});
    throw error;
  }

  function createWorkers(
    { bundlePath }: WorkerProcessOptions,
    connected: NativeConnection,
    activities: ActivityMap,
  ): Promise<Worker[]> {
    const middleware = configuredMiddleware('activity', start.jobqueue, { logger, metrics: runtime.jobMetrics });
    const common = {
      connection: connected,
      namespace: temporal.settings.namespace,
      dataConverter: encryptedDataConverter(temporal.codec),
      interceptors: {
        activity: [
          heartbeatInterceptor,
          failingActivityInterceptor(
            new FailingWorkNotes({ database: runtime.database, temporal }),
            configuredErrorHandler({ config, database: runtime.database, temporal, logger }),
            logger,
          ),
          failureInterceptor,
          originInterceptor(logger, temporal.codec),
          ...(middleware ? [middlewareInterceptor(middleware)] : []),
        ],
      },
      shutdownGraceTime: queueconf.SoftStopTimeout,
      shutdownForceTime: queueconf.SoftStopTimeout + cancellationMs,
      ...(queueconf.ID ? { identity: queueconf.ID } : {}),
    } satisfies Partial<WorkerOptions>;
    const deliveries = activity.find((queue) => queue.name === start.workflows.dispatch.queuename);
    return Promise.all([
      ...(isWanted(workflowQueue)
        ? [
            Worker.create({
              ...common,
              taskQueue: temporal.taskQueue(workflowQueue),
              workflowBundle: { codePath: bundlePath },
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
  }
}

function refuseUnknown(wanted: readonly string[] | undefined, known: readonly string[]): void {
  const unknown = (wanted ?? []).filter((name) => !known.includes(name));
  if (unknown.length === 0) return;
  throw new ConfigurationError(
    unknown.map((name) => ({
      path: '',
      where: '--queues',
      reason: `there is no queue ${name}`,
      remedy: `this release has ${known.join(', ')}`,
    })),
  );
}

async function runAll(workers: readonly Worker[]): Promise<void> {
  await Promise.all(workers.map((worker) => worker.run()));
}

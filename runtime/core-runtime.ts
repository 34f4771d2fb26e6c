import { readFileSync } from 'node:fs';
import type { Logger } from 'pino';
import { Registry } from 'prom-client';
import { cacheConnection } from '#activities/clients/cache/redis-connection.ts';
import { allowsInCache, allowsInMemory } from '#activities/clients/cache/allow-cache.ts';
import { AuthorizationStore } from '#activities/clients/fga/authorization-store.ts';
import { modelToWrite } from '#activities/clients/fga/model-file.ts';
import { storeCredentials } from '#activities/clients/fga/store-credentials.ts';
import { writtenModel } from '#activities/clients/fga/written-model.ts';
import { listeners as productListeners } from '#activities/listeners/index.ts';
import type { Listener } from '#activities/listeners/listener.ts';
import { configuredMiddleware } from '#activities/clients/temporal/job-middleware.ts';
import { JobMetrics } from '#activities/clients/temporal/job-metrics.ts';
import { parseConnectionUri, TemporalGateway } from '#activities/clients/temporal/temporal-client.ts';
import type { TemporalEnvironment } from '#config/reading/standard-variables.ts';
import type { Config } from '#config/objects/root.ts';
import type { ConfigStore } from '#config/live/config-store.ts';
import { registry as productRegistry } from '#entities/index.ts';
import { deriveModel } from '#entities/kit/model/authorization-model.ts';
import type { Authorizer } from '#entities/kit/access/authorizer.ts';
import type { Caller } from '#entities/kit/model/caller.ts';
import { systemClock, type Clock } from '#entities/kit/base/clock.ts';
import type { DatabaseOptions } from '#entities/kit/access/database-options.ts';
import { Database } from '#entities/kit/unit/database.ts';
import { kindsWithoutRules } from '#entities/kit/model/kinds-without-rules.ts';
import { everyModule } from '#entities/kit/model/product-modules.ts';
import type { Registry as EntityRegistry } from '#entities/kit/model/registry.ts';
import type { StatementObserver } from '#entities/kit/storage/transaction.ts';
import { deliveryQueue } from '#workflows/events/deliver-event.contract.ts';
import { ParentContexts, requireUsableConditions, type ContextOfCallers } from '#relay/authorization/parent-context.ts';
import { StoreAuthorizer } from '#relay/authorization/store-authorizer.ts';
import { TupleApplying } from '#relay/tuples/tuple-applying.ts';
import { TupleRelay } from '#relay/tuples/tuple-relay.ts';
import { createNotifier } from '#relay/outbox/wake-up.ts';

/** Services shared by API and worker. */
export interface CoreRuntime {
  readonly database: Database;
  readonly temporal: TemporalGateway;
  /** Undefined while `authz.enabled` is off. */
  readonly store: AuthorizationStore | undefined;
  readonly tuples: TupleRelay | undefined;
  /** What the settings say about callers: how their organization counts for records of each kind, and whether it may use everything. */
  readonly contextOfCallers: () => Promise<ContextOfCallers & Partial<Pick<Caller, 'productModules'>>>;
  readonly listeners: readonly Listener[];
  readonly jobMetrics: JobMetrics;
  /**
   * This process relays by itself: events of its commits are told to `wake` instead of to the relays of other processes.
   * @returns ends that
   */
  relayHere(wake: () => void): () => void;
  close(): Promise<void>;
}

export interface CoreRuntimeOptions {
  readonly config: ConfigStore;
  readonly temporalEnvironment: TemporalEnvironment;
  readonly logger: Logger;
  /** Shown by PostgreSQL as application name. */
  readonly process: 'core api' | 'core worker' | 'core tool';
  readonly clock?: Clock;
  /** Where metrics of the job queue are exported. */
  readonly metrics?: Registry;
  /** Told of every statement. */
  readonly observers?: readonly StatementObserver[];
  /** Told of every decision about a change. */
  readonly onDecision?: DatabaseOptions['onDecision'];
  /** Those of the product, unless a test brings its own. */
  readonly listeners?: readonly Listener[];
  /** For tests that bring kinds of their own. */
  readonly registry?: EntityRegistry;
}

/**
 * Assembles database, Temporal and authorization store from the configuration. Nothing connects yet.
 * @throws ConfigurationError for a model file, or conditions of the parent context, that cannot be used
 */
export async function openRuntime(options: CoreRuntimeOptions): Promise<CoreRuntime> {
  const { config, logger, registry = productRegistry, listeners = productListeners } = options;
  const topicsWithListeners = new Set(listeners.flatMap(({ topics }) => topics));
  const start = config.current;
  warnOfForgottenRules(registry, logger);
  const store = start.authz.enabled ? new AuthorizationStore(await storeSettings(start, registry)) : undefined;
  let authorizer: Authorizer | undefined;
  const database = await Database.open({
    // The relay of tuples, which it waits for, stands on the database.
    get authorizer() {
      return authorizer;
    },
    url: start.db.primarydbsource,
    applicationName: options.process,
    maxConnections: start.db.maxconnections,
    maxIdleConnections: start.db.maxidleconnections,
    maxUnitsOfWork: start.ormconfig.maxpoolsize,
    acquireTimeoutMs: start.server.writetimeout,
    lockTimeoutMs: start.server.writetimeout,
    // Later than the deadline, which rolls back by itself: this is for a process that stands still.
    idleInTransactionTimeoutMs: start.server.writetimeout + 5_000,
    defaultTimeoutMs: start.server.writetimeout,
    recordHistory: start.db.enablehistory,
    registry,
    clock: options.clock ?? systemClock,
    ...(options.onDecision ? { onDecision: options.onDecision } : {}),
    hasListener: (topic) => topicsWithListeners.has(topic),
    failOnEnqueueError: () => config.current.workflows.dispatch.failonenqueueerror,
    observer: {
      statement: (report) => {
        // `db.debug` may be switched while we run.
        if (config.current.db.debug)
          logger.info({ duration_ms: report.durationMs, failed: report.isFailed }, report.text);
        for (const observer of options.observers ?? []) observer.statement(report);
      },
    },
    onBackgroundError: (error, doing) => logger.error({ err: error }, `failed: ${doing}`),
  });
  const { queueconf, metrics } = start.jobqueue;
  const jobMetrics = new JobMetrics({
    registry: options.metrics ?? new Registry(),
    unit: metrics.metricsdurationunit,
  });
  const middleware = configuredMiddleware('start', start.jobqueue, { logger, metrics: jobMetrics });
  const temporal = new TemporalGateway({
    ...parseConnectionUri(start.jobqueue.connectionuri),
    prefix: queueconf.Schema,
    encryptionKey: start.sessions.encryptionkey,
    credentials: temporalCredentials(options.temporalEnvironment),
    activityDefaults: {
      attemptTimeoutMs: queueconf.JobTimeout,
      heartbeatTimeoutMs: queueconf.JobStuckThreshold,
      retry: {
        maximumAttempts: queueconf.MaxAttempts,
        initialIntervalMs: queueconf.RetryPolicy.initialinterval,
        backoffCoefficient: queueconf.RetryPolicy.backoffcoefficient,
        maximumIntervalMs: queueconf.RetryPolicy.maximuminterval,
      },
    },
    queueNames: { [deliveryQueue]: start.workflows.dispatch.queuename },
    hasRandomIds: queueconf.Test.DisableUniqueEnforcement,
    ...(middleware ? { middleware } : {}),
  });
  // Requests wait for it while they hold connections; it must not need one of theirs.
  const tupleDatabase = database.sibling(1);
  const tuples =
    store && new TupleRelay({ database: tupleDatabase, store, maxBatch: () => config.current.authz.maxbatchwritesize });
  const cache = start.cache.enabled
    ? cacheConnection(start.cache, (error) => logger.warn({ err: error }, 'the cache connection failed'))
    : undefined;
  if (store && tuples) {
    const allows = cache ? allowsInCache(cache, start.authz.storename) : allowsInMemory();
    authorizer = new StoreAuthorizer({ store, tuples, allows });
  }
  const contexts = new ParentContexts({ registry, store, settings: () => config.current.authz, logger });
  const notifier = createNotifier(database);
  let wakeRelays = () => notifier.notify();

  const applying = tuples && new TupleApplying(tuples, logger);

  database.onCommit(async (summary) => {
    if (summary.pendingEvents > 0) wakeRelays();
    await applying?.afterCommit(summary);
  });

  return {
    database,
    temporal,
    store,
    tuples,
    contextOfCallers: async () => ({
      ...(await contexts.ofCallers()),
      ...everyModule(config.current.ormconfig.modules),
    }),
    listeners,
    jobMetrics,
    relayHere: (wake) => {
      wakeRelays = wake;
      return () => {
        wakeRelays = () => notifier.notify();
      };
    },
    close: async () => {
      notifier.stop();
      applying?.stop();
      cache?.disconnect();
      await temporal.close();
      await tupleDatabase.close();
      await database.close();
    },
  };
}

function warnOfForgottenRules(registry: EntityRegistry, logger: Logger): void {
  const kinds = kindsWithoutRules(registry);
  if (kinds.length > 0)
    logger.warn({ kinds }, 'kinds without rules: all their records can be read, and changes of them are dropped');
}

function temporalCredentials({ apiKey, tlsCertFile, tlsKeyFile, tlsServerName, tlsCaFile }: TemporalEnvironment) {
  const hasTls = tlsCertFile ?? tlsServerName ?? tlsCaFile;
  if (!apiKey && !hasTls) return {};
  return {
    ...(apiKey ? { apiKey } : {}),
    tls: {
      ...(tlsCertFile && tlsKeyFile
        ? { clientCertPair: { crt: readFileSync(tlsCertFile), key: readFileSync(tlsKeyFile) } }
        : {}),
      ...(tlsServerName ? { serverNameOverride: tlsServerName } : {}),
      ...(tlsCaFile ? { serverRootCACertificate: readFileSync(tlsCaFile) } : {}),
    },
  };
}

async function storeSettings({ authz }: Config, registry: EntityRegistry) {
  const model = await modelToWrite(authz, writtenModel(deriveModel(registry)));
  requireUsableConditions(registry, authz, model);
  return {
    hostUrl: authz.hosturl,
    storeName: authz.storename,
    storeId: authz.storeid,
    modelId: authz.modelid,
    createNewModel: authz.createnewmodel,
    credentials: storeCredentials(authz.credentials),
    model,
  };
}

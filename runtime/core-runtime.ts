import { join } from 'node:path';
import type { Logger } from 'pino';
import { GuardedCache } from '#activities/clients/cache/guarded-cache.ts';
import { CachePool } from '#activities/clients/cache/cache-pool.ts';
import { allowsInCache, allowsInMemory } from '#activities/clients/cache/allow-cache.ts';
import { HeldRateCounters, type RateCounters } from '#activities/clients/cache/rate-counters.ts';
import { SharedRateCounters } from '#activities/clients/cache/shared-rate-counters.ts';
import { usedCodesInCache, usedCodesNowhere, type UsedCodes } from '#activities/clients/cache/used-codes.ts';
import { EndedSessions } from '#activities/clients/cache/ended-sessions.ts';
import type { EmailNetwork } from '#activities/clients/email-validation/email-validator.ts';
import { textRecordsOf } from '#activities/clients/email-validation/text-records.ts';
import { AuthorizationStore } from '#activities/clients/fga/authorization-store.ts';
import { listeners as productListeners } from '#activities/listeners/index.ts';
import type { Listener } from '#activities/listeners/listener.ts';
import { topicsWithListeners } from '#activities/listeners/wanted-listeners.ts';
import { announceEndedSession } from '#activities/listeners/identity/announce-ended-session.listener.ts';
import { configuredMiddleware } from '#activities/clients/temporal/job-middleware.ts';
import { JobMetrics } from '#activities/clients/temporal/job-metrics.ts';
import { TemporalGateway } from '#activities/clients/temporal/temporal-client.ts';
import type { PaymentProvider } from '#activities/clients/payment/payment-provider.ts';
import { configuredPayment, type PaymentProviderSettings } from '#activities/clients/payment/configured-payment.ts';
import type { TemporalEnvironment } from '#config/reading/standard-variables.ts';
import type { ConfigStore } from '#config/live/config-store.ts';
import { registry as productRegistry } from '#entities/index.ts';
import type { Authorizer } from '#entities/kit/access/authorizer.ts';
import { systemClock, type Clock } from '#entities/kit/base/clock.ts';
import type { DatabaseOptions } from '#entities/kit/access/database-options.ts';
import { Database } from '#entities/kit/unit/database.ts';
import { entitled, type Entitled, type HeldEntitlements } from '#entities/kit/access/entitled.ts';
import type { Registry as EntityRegistry } from '#entities/kit/model/registry.ts';
import { SecondDatabaseHook } from '#entities/kit/storage/second/second-database-hook.ts';
import type { StatementObserver } from '#entities/kit/storage/transaction.ts';
import { ParentContexts, type ContextOfCallers } from '#relay/authorization/parent-context.ts';
import { StoreAuthorizer } from '#relay/authorization/store-authorizer.ts';
import { TupleApplying } from '#relay/tuples/tuple-applying.ts';
import { TupleRelay } from '#relay/tuples/tuple-relay.ts';
import { ChangeFeed } from '#relay/changes/change-feed.ts';
import { createNotifier } from '#relay/outbox/wake-up.ts';
import { FileReceiver } from '#activities/clients/storage/receiving/file-receiver.ts';
import type { ObjectStorage } from '#activities/clients/storage/object-storage.ts';
import { StorageMetrics } from '#activities/clients/storage/storage-metrics.ts';
import { authorizationStoreSettings } from './authorization-store-settings.ts';
import { configuredStorage } from './configured-storage.ts';
import { watchBacklog } from './metrics/backlog-gauges.ts';
import { CoreMetrics } from './metrics/core-metrics.ts';
import { newRegistry, type MetricsRegistry } from './metrics/process-metrics.ts';
import { temporalSettings } from './temporal-settings.ts';
import { warnOfMissingRules } from './warn-of-missing-rules.ts';

/** Services shared by API and worker. */
export interface CoreRuntime {
  readonly config: ConfigStore;
  readonly database: Database;
  readonly temporal: TemporalGateway;
  /** Undefined while `authz.enabled` is off. */
  readonly store: AuthorizationStore | undefined;
  readonly tuples: TupleRelay | undefined;
  /** Undefined while `auth.token.cache.enabled` is off. */
  readonly endedSessions: EndedSessions | undefined;
  /** The part of a caller that comes from settings: kinds for which the organization applies, and what it may use. */
  readonly contextOfCallers: () => Promise<
    ContextOfCallers & { readonly entitled: (held: HeldEntitlements) => Entitled }
  >;
  readonly listeners: readonly Listener[];
  readonly metrics: CoreMetrics;
  readonly jobMetrics: JobMetrics;
  /** Resolves when the cache answers; undefined while `cache.enabled` is off. */
  readonly pingCache: (() => Promise<unknown>) | undefined;
  readonly usedCodes: UsedCodes;
  readonly rateCounters: RateCounters;
  readonly storage: ObjectStorage;
  readonly storageMetrics: StorageMetrics;
  readonly fileReceiver: FileReceiver;
  /** Committed changes of records, for subscribers. Nothing is read before it is started. */
  readonly changeFeed: ChangeFeed;
  /** The payment provider; undefined while `subscription.enabled` is off. */
  readonly payment: () => PaymentProvider | undefined;
  /** The text records of a name in the DNS (email-validation/text-records.ts). */
  readonly textRecords: (name: string) => Promise<readonly string[]>;
  /** To be called when rows have become due that no commit reports. */
  wakeRelays(): void;
  /**
   * Lets this process relay by itself: after a commit with events `wake` is called, instead of notifying other processes.
   * @returns ends that
   */
  relayHere(wake: () => void): () => void;
  close(): Promise<void>;
}

export interface CoreRuntimeOptions {
  readonly config: ConfigStore;
  readonly temporalEnvironment: TemporalEnvironment;
  readonly logger: Logger;
  /** Folder of files that this installation has on this machine. */
  readonly stateFolder: string;
  /** Shown by PostgreSQL as application name. */
  readonly process: 'core api' | 'core worker' | 'core tool';
  readonly clock?: Clock;
  /** Where metrics are exported. */
  readonly metrics?: MetricsRegistry;
  readonly observers?: readonly StatementObserver[];
  readonly onDecision?: DatabaseOptions['onDecision'];
  /** Those of the product, unless a test brings its own. */
  readonly listeners?: readonly Listener[];
  /** Servers that are asked about e-mail addresses and their domains. */
  readonly emailNetwork?: Partial<EmailNetwork>;
  /** Where the payment provider is, for tests. */
  readonly payment?: PaymentProviderSettings;
  /** For tests that bring kinds of their own. */
  readonly registry?: EntityRegistry;
}

/**
 * Composition root: assembles the services from the configuration. Nothing connects yet.
 * @throws ConfigurationError for a model file, or conditions of the parent context, that cannot be used
 */
export async function openRuntime(options: CoreRuntimeOptions): Promise<CoreRuntime> {
  const { config, logger, clock = systemClock, registry = productRegistry } = options;
  const start = config.current;
  const listeners = (options.listeners ?? productListeners).filter(
    (listener) => listener !== announceEndedSession || start.auth.token.cache.enabled,
  );
  warnOfMissingRules(registry, logger);

  const exported = options.metrics ?? newRegistry();
  const metrics = new CoreMetrics(exported);
  const store = start.authz.enabled
    ? new AuthorizationStore(await authorizationStoreSettings(start, registry), (call) => metrics.storeCalled(call))
    : undefined;
  let authorizer: Authorizer | undefined;
  const database = await Database.open({
    ...databaseOptions(options, registry, listeners, metrics),
    // Set below: the authorizer applies tuples, and their relay needs the database.
    get authorizer() {
      return authorizer;
    },
  });

  metrics.watchDatabase(database);
  watchBacklog(database, exported, logger);
  const storageMetrics = new StorageMetrics(exported);
  const storage = configuredStorage(config, database, options.stateFolder, { metrics: storageMetrics, logger });
  const fileReceiver = new FileReceiver({
    storage,
    settings: () => config.current.objectstorage,
    mime: () => config.current.server.mime,
    folder: join(options.stateFolder, 'uploads'),
    stallTimeoutMs: () => config.current.server.writetimeout,
    // The sweep of uploads removes what could not be removed at once.
    onBackgroundError: (error, doing) => logger.warn({ err: error }, `failed: ${doing}`),
  });
  const jobMetrics = new JobMetrics({
    registry: exported,
    unit: start.jobqueue.metrics.metricsdurationunit,
  });
  const middleware = configuredMiddleware('start', start.jobqueue, { logger, metrics: jobMetrics });
  const temporal = new TemporalGateway(temporalSettings(start, options.temporalEnvironment, middleware));

  // A connection of its own: requests wait for the relay of tuples while they hold theirs.
  const tupleDatabase = database.sibling(1);
  const tuples =
    store && new TupleRelay({ database: tupleDatabase, store, maxBatch: () => config.current.authz.maxbatchwritesize });
  const applying = tuples && new TupleApplying(tuples, logger);
  const onCacheError = (error: unknown) => logger.warn({ err: error }, 'the cache connection failed');
  const cache = start.cache.enabled ? new CachePool(start.cache, onCacheError) : undefined;
  const endedSessions = EndedSessions.of(start, cache, onCacheError);
  metrics.watchCache(cache);
  const guarded = cache && new GuardedCache(cache, (question) => metrics.cacheAsked(question));
  if (store && tuples) {
    const allows = guarded ? allowsInCache(guarded, start.authz.storename) : allowsInMemory();
    authorizer = new StoreAuthorizer({ store, tuples, allows });
  }
  const contexts = new ParentContexts({ registry, store, settings: () => config.current.authz, logger });

  const notifier = createNotifier(database);
  const followers = createNotifier(database, 'core_changes');
  const changeFeed = new ChangeFeed({ database, url: start.db.primarydbsource, logger });
  let wakeRelays = () => notifier.notify();
  database.onCommit(async (summary) => {
    if (summary.pendingEvents > 0 || summary.objectChanges > 0) wakeRelays();
    if (summary.feedChanges > 0) followers.notify();
    await applying?.afterCommit(summary);
  });

  return {
    config,
    database,
    temporal,
    store,
    tuples,
    endedSessions,
    contextOfCallers: async () => ({
      ...(await contexts.ofCallers()),
      entitled: (held) => entitled(held, config.current, clock.now()),
    }),
    listeners,
    metrics,
    pingCache: cache && (() => cache.use((connection) => connection.ping())),
    jobMetrics,
    storageMetrics,
    storage,
    fileReceiver,
    changeFeed,
    payment: configuredPayment(config, options.payment ?? {}),
    textRecords: (name) => textRecordsOf(options.emailNetwork ?? {}, name),
    rateCounters: rateCounters(options, guarded),
    usedCodes: guarded ? usedCodesInCache(guarded, start.authz.storename) : usedCodesNowhere,
    wakeRelays: () => wakeRelays(),
    relayHere: (wake) => {
      wakeRelays = wake;
      return () => {
        wakeRelays = () => notifier.notify();
      };
    },
    close: async () => {
      await changeFeed.stop();
      await Promise.all([notifier.stop(), followers.stop()]);
      applying?.stop();
      endedSessions?.close();
      cache?.close();
      storage.close();
      await temporal.close();
      await tupleDatabase.close();
      await database.close();
    },
  };
}

/** Counters of requests: shared by all processes if there is a cache. */
function rateCounters({ config, logger, clock = systemClock }: CoreRuntimeOptions, cache?: GuardedCache): RateCounters {
  const held = new HeldRateCounters(clock);
  if (!cache) return held;
  const { authz, ratelimit, ratelimitunmatched } = config.current;
  const shared = new SharedRateCounters({ cache, prefix: authz.storename, held, logger });
  if ([ratelimit, ratelimitunmatched].some(({ enabled, dryrun }) => enabled || dryrun)) shared.connect();
  return shared;
}

function databaseOptions(
  { config, logger, process, clock = systemClock, observers = [], onDecision }: CoreRuntimeOptions,
  registry: EntityRegistry,
  listeners: readonly Listener[],
  metrics: CoreMetrics,
): Omit<DatabaseOptions, 'authorizer'> {
  const { db, ormconfig, server } = config.current;
  const connections = {
    url: db.primarydbsource,
    applicationName: process,
    maxConnections: db.maxconnections,
    maxIdleConnections: db.maxidleconnections,
    lockTimeoutMs: server.writetimeout,
    onBackgroundError: (error: unknown, doing: string) => logger.error({ err: error }, `failed: ${doing}`),
  };
  return {
    ...connections,
    ...(db.multiwrite && {
      hook: new SecondDatabaseHook({
        ...connections,
        url: db.secondarydbsource,
        primaryUrl: db.primarydbsource,
        logger,
      }),
    }),
    maxUnitsOfWork: ormconfig.maxpoolsize,
    acquireTimeoutMs: server.writetimeout,
    // Longer than the deadline, at which a running process rolls back by itself: this is for a process that hangs.
    idleInTransactionTimeoutMs: server.writetimeout + 5_000,
    defaultTimeoutMs: server.writetimeout,
    resultsTtlMs: () => config.current.db.cachettl,
    recordHistory: db.enablehistory,
    feedsSubscribers: server.enablegraphsubscriptions,
    registry,
    encryptionSecrets: () => config.current.sessions.encryptionkey,
    clock,
    onDecision: (taken) => {
      metrics.decided(taken.decision.by);
      onDecision?.(taken);
    },
    onUnitEnded: (ended) => metrics.unitEnded(ended),
    hasListener: topicsWithListeners(listeners, () => config.current),
    failOnEnqueueError: () => config.current.workflows.dispatch.failonenqueueerror,
    configuredNames: () => ({ entityTypes: config.current.ormconfig.entitytypes }),
    observer: {
      statement: (report) => {
        metrics.statement(db.databasename, report.durationMs);
        // Read each time, because `db.debug` may change while the process runs.
        if (config.current.db.debug)
          logger.info({ duration_ms: report.durationMs, failed: report.isFailed }, report.text);
        for (const observer of observers) observer.statement(report);
      },
    },
  };
}
